import { existsSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import { repositoryRoot } from '../../names.ts';
import { projectText } from './show.ts';
import type { Command, CommandContext } from '../command.ts';

/** A path of this machine becomes absolute; a URL stays as it is. */
const sourceOf = ({ input, world }: CommandContext): string => {
  const given = input.argument('source');
  if (given !== null && (/^[a-z][a-z0-9+.-]*:\/\//i.test(given) || /^[\w.-]+@[\w.-]+:/.test(given))) return given;
  const folder = resolve(world.cwd, given ?? '.');
  if (!existsSync(folder))
    throw new OrreryError('not_found', 'There is no such folder.', {
      rule: 'A project is a path of this machine or a URL.',
      fix: 'orrery project add',
    });
  const root = given === null ? repositoryRoot(folder) : realpathSync(folder);
  if (root === null)
    throw new OrreryError('repository_unusable', 'This folder is in no Git repository.', {
      rule: 'A project is a repository.',
      fix: 'git init && git add -A && git commit -m "First state"',
    });
  return root;
};

/** `orrery project add`. */
export const projectAdd: Command = async (context) => {
  const source = sourceOf(context);
  const { client } = await context.connect();
  const name = context.input.text('name');
  const body = { source, ...(name === null ? {} : { name }) };
  const project = await context.change({
    intent: body,
    send: (requestId) =>
      client.call('projectAdd', { body: { ...body, requestId }, idempotencyKey: requestId, timeoutMs: 600_000 }),
    resources: ({ id }) => [id],
  });
  return {
    result: { project },
    text: projectText(context.screen, project, context.world.now()),
    hints: [`  orrery run --project ${project.name} "fix the failing test"`],
  };
};
