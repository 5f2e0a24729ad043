import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OrreryError } from '@orrery/protocol';
import type { Git } from '../../git/run.ts';
import { demoFiles } from './files.ts';
import { demoMarker } from './script.ts';

/** What `orrery demo` gives to the command line: the repository, the task, and how to go on with a real model. */
export type DemoMade = {
  readonly source: string;
  readonly task: { readonly prompt: string; readonly harness: string; readonly model: string; readonly maxRetries: number };
  readonly realModel: readonly string[];
};

/** Makes the demo's repository in `folder`, which must not exist yet. `tag` makes its conversation one of its own. */
export const makeDemo = async (folder: string, tag: string, git: Git): Promise<DemoMade> => {
  await mkdir(dirname(folder), { recursive: true });
  await mkdir(folder).catch((thrown: unknown) => {
    throw new OrreryError('not_empty', `${folder} exists already.`, {
      rule: 'The demo makes a repository of its own and touches no other.',
      fix: 'orrery demo --folder ANOTHER',
      cause: thrown,
    });
  });
  for (const [path, content] of Object.entries(demoFiles)) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
    if (path.endsWith('.sh')) await chmod(file, 0o755);
  }
  const inFolder = (args: readonly string[]) =>
    git.run({ args, cwd: folder, readOnly: false, identity: { name: 'Orrery demo', email: 'demo@orrery.invalid' } });
  await inFolder(['init', '--quiet', '--initial-branch=main']);
  await inFolder(['add', '--all']);
  await inFolder(['commit', '--quiet', '--message', 'A program with a failing test']);
  return {
    source: folder,
    task: {
      // The smallest of the programs.
      harness: 'pi',
      prompt: `Make the failing test of this repository pass. (${demoMarker} ${tag})`,
      model: 'scripted/demo',
      maxRetries: 3,
    },
    realModel: [
      'orrery harness install claude      # or codex, pi',
      'orrery secret set anthropic        # paste the key; it stays with the node',
      'orrery harness login claude        # or a subscription in its place',
    ],
  };
};
