import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import { repositoryRoot } from '../../names.ts';
import type { Command } from '../command.ts';

const NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/;

const template = `---
description: what it is for, in one line
# harness: claude
# model: anthropic/claude-sonnet-4-5
# mode: ask
---

You are careful. Say what you will do before you do it.
`;

/** `orrery agent new`. */
export const agentNew: Command = async ({ input, world, paths }) => {
  const name = input.argument('agent') ?? '';
  if (!NAME.test(name) || name.includes('..'))
    throw new OrreryError('invalid_input', 'That name cannot be used.', {
      rule: 'Letters, digits and . _ - only, beginning with a letter or digit; at most 100.',
      fix: 'orrery agent new reviewer',
    });
  const user = input.flag('user');
  const root = repositoryRoot(world.cwd);
  if (!user && root === null)
    throw new OrreryError('invalid_input', 'This folder is in no repository.', {
      rule: 'An agent is a file of a project, or yours.',
      fix: `orrery agent new ${name} --user`,
    });
  const path = join(
    user || root === null ? join(dirname(paths.configFile), 'agents') : join(root, '.orrery/agents'),
    `${name}.md`,
  );
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, template, { flag: 'wx' }).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code !== 'EEXIST') throw thrown;
    throw new OrreryError('conflict', `${path} is there already.`, {
      rule: 'A file that is there is left alone.',
      fix: `orrery agent show ${name}`,
    });
  });
  return {
    result: { path },
    text: `${path} is written.`,
    hints: [user ? `  orrery session start --agent ${name}` : `  Commit it, then: orrery session start --agent ${name}`],
  };
};
