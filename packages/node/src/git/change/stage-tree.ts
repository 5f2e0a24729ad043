import { copyFileSync, mkdirSync } from 'node:fs';
import { OrreryError } from '@orrery/protocol/errors';
import { absoluteBytes, lookAt, showBytes } from '../../files/tree-walk.ts';
import { stderrOf } from '../run.ts';
import { lockPaths, stagedCall, stagePaths, type Change, type ChangeTools } from './model.ts';

/**
 * Makes the new index and every file that is another one in the target, filters and line ends applied as the user's
 * configuration says, in the stage. Git first says whether it would do the same in the real tree; rejects with
 * `dirty_tree` when it would not.
 */
export const stageTree = async (
  { git, step }: Pick<ChangeTools, 'git' | 'step'>,
  change: Change,
  by: { readonly fallback: string },
): Promise<void> => {
  const { index, files, aside } = stagePaths(change);
  const old = change.old ?? '';
  const target = change.target ?? '';
  await step();
  copyFileSync(lockPaths(change).index, index);
  mkdirSync(files);
  mkdirSync(aside);
  // Objects that Git could be asked for by name only: the real directory is read, the stage's is written.
  const call = { ...stagedCall(change), indexFile: index };
  await git.run({ ...call, args: ['update-index', '-q', '--refresh'], okCodes: [0, 1] });
  await refuseCovered(git, change, by);
  await git.run({ ...call, args: ['read-tree', '-n', '-m', '-u', old, target] }).catch(refuseInTheWay(by));
  await step();
  const staged = { ...call, gitDir: change.gitDir, workTree: files, cwd: files, settings: ['core.splitIndex=false'] };
  const { stderr } = await git.run({ ...staged, args: ['read-tree', '-m', '-u', old, target] });
  if (!/external filter|smudge filter/i.test(stderr)) return;
  throw new OrreryError('git_failed', 'A filter of the repository failed on the files of the result.', {
    rule: stderr.split('\n').find((line) => /filter/i.test(line)),
    fix: byBranch(by.fallback),
  });
};

/** The advice of every refusal. */
export const byBranch = (branch: string): string => `Apply it as a branch instead: --branch ${branch}`;

const refuseInTheWay =
  ({ fallback }: { fallback: string }) =>
  (thrown: unknown): never => {
    const stderr = stderrOf(thrown);
    if (!/would be overwritten|would be removed|not uptodate|would lose untracked|Untracked working tree/i.test(stderr))
      throw thrown;
    throw new OrreryError('dirty_tree', 'Files that Git does not track are in the way of the result.', {
      rule: stderr.split('\n')[0],
      fix: byBranch(fallback),
      cause: thrown,
    });
  };

/** Git overwrites ignored files that are in the way of new ones; here they are work like any other. */
const refuseCovered = async (git: ChangeTools['git'], change: Change, { fallback }: { fallback: string }): Promise<void> => {
  const { stdout } = await git.run({
    ...stagedCall(change),
    args: ['diff-tree', '-r', '-z', '--name-only', '--diff-filter=A', '--no-renames', change.old ?? '', change.target ?? ''],
  });
  const covered = stdout
    .toString('latin1')
    .split('\0')
    .filter((path) => path !== '' && lookAt(absoluteBytes(change.repository, path))?.isDirectory() === false)
    .map(showBytes);
  if (covered.length === 0) return;
  throw new OrreryError(
    'dirty_tree',
    `Files that Git does not track are in the way of the result: ${covered.slice(0, 3).join(', ')}${covered.length > 3 ? ' …' : ''}.`,
    {
      rule: 'A file that is not committed is never overwritten.',
      fix: byBranch(fallback),
      details: { paths: covered.slice(0, 100) },
    },
  );
};
