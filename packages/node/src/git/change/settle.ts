import { readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { removeEmptyFolder, removeStaged } from '../../files/remove.ts';
import { isErrno, lookAt } from '../../files/tree-walk.ts';
import { lockPaths, stagePath, stagePaths, userCall, type Change, type ChangeTools } from './model.ts';
import { undoMoves } from './moves.ts';
import { commitLock, isOwn, releaseLock } from './own-lock.ts';
import { writeBranch } from './ref.ts';

/** What became of a change: it is whole, or nothing of it is left. `left`: paths that somebody else changed meanwhile. */
export type Settled = { readonly outcome: 'finished' | 'taken-back'; readonly left: readonly string[] };

/**
 * Brings a change to its end from wherever it was ended, as often as it is called: what was `moved` is finished, anything
 * else is taken back. Locks that are not the change's own are never touched. Rejects only for what the system or Git
 * refuses; then the change stays in the journal.
 */
export const settleChange = async (tools: ChangeTools, change: Change): Promise<Settled> => {
  const finished = change.phase === 'moved';
  const left = finished ? await finish(tools, change) : change.phase === 'moving' ? await takeBack(tools, change) : [];
  const { indexLock, refLock } = lockPaths(change);
  const { indexMarker, refMarker } = stagePaths(change);
  await tools.step();
  releaseLock({ marker: refMarker, lock: refLock });
  removeEmptyAbove(refLock, join(change.commonDir, 'refs/heads'));
  await tools.step();
  releaseLock({ marker: indexMarker, lock: indexLock });
  await tools.step();
  await removeStage(change);
  await tools.step();
  await tools.journal.end(change.id);
  return { outcome: finished ? 'finished' : 'taken-back', left };
};

/** Folders that the lock was made in. Git takes them away too when it sees one. */
const removeEmptyAbove = (lock: string, top: string): void => {
  for (let folder = dirname(lock); folder !== top && removeEmptyFolder(folder); folder = dirname(folder));
};

/** Somebody who took the lock away may have done anything since: then nothing is put back over it. What was set aside is in the branch. */
const takeBack = async (tools: ChangeTools, change: Change): Promise<string[]> =>
  isOwn(stagePaths(change).indexMarker, lockPaths(change).indexLock) ? undoMoves(tools, change) : ['the index'];

/** Index, then branch. An index that is neither the change's nor what it was before is somebody else's by now. */
const finish = async (tools: ChangeTools, change: Change): Promise<string[]> => {
  if (change.tree && !(await writeIndex(tools, change))) return ['the index'];
  await writeBranch(tools, change);
  return [];
};

/** Makes the staged index the repository's; false when somebody took the lock away before that. */
const writeIndex = async ({ git, step }: ChangeTools, change: Change): Promise<boolean> => {
  const { index, indexLock } = lockPaths(change);
  const { indexMarker, index: staged } = stagePaths(change);
  if (isOwn(indexMarker, indexLock)) {
    removeLockOf(staged);
    await step();
    const call = { ...userCall(change.repository), indexFile: staged, readOnly: false };
    await git.run({ ...call, args: ['update-index', '-q', '--refresh'], okCodes: [0, 1] });
    await step();
    writeFileSync(indexMarker, readFileSync(staged));
    await step();
    commitLock({ lock: indexLock, path: index });
    return true;
  }
  if (isOwn(indexMarker, index)) return true;
  // The index is another file by now. When it holds what was there before, it never was replaced.
  const args = ['diff-index', '--cached', '--quiet', '--ignore-submodules=all', change.old ?? ''];
  return (await git.run({ ...userCall(change.repository), args, okCodes: [0, 1] })).code === 1;
};

/** A Git command on the staged index was ended: the lock beside it is the stage's. */
const removeLockOf = (staged: string): void => {
  try {
    unlinkSync(`${staged}.lock`);
  } catch (thrown) {
    if (!isErrno(thrown, 'ENOENT')) throw thrown;
  }
};

/** One whose identity was not recorded yet is empty; its name is the change's own. */
const removeStage = async (change: Change): Promise<void> => {
  const path = stagePath(change);
  if (lookAt(path) === null) return;
  if (change.stage === null) removeEmptyFolder(path);
  else await removeStaged(change.stage);
};
