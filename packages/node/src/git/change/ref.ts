import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import { removeEmptyFolder } from '../../files/remove.ts';
import { lookAt } from '../../files/tree-walk.ts';
import { branchRef } from '../names.ts';
import { lockPaths, stagePaths, userCall, type Change, type ChangeTools } from './model.ts';
import { commitLock, isOwn, takeLock } from './own-lock.ts';

/** What a reflog has for a branch that was not there. */
const none = '0'.repeat(40);

/**
 * Takes the lock of the branch and looks that it still is at `change.old`. While it is held nobody else moves the branch.
 * Rejects with `conflict` when it is held or the branch moved, `unsupported` when it is no plain branch.
 */
export const lockBranch = async (
  { git }: Pick<ChangeTools, 'git'>,
  change: Change,
  { mirror, sha }: { readonly mirror: string; readonly sha: string },
): Promise<void> => {
  const { ref, refLock } = lockPaths(change);
  const { refMarker } = stagePaths(change);
  if (lookAt(join(change.commonDir, 'reftable')) !== null)
    throw new OrreryError('unsupported', 'The repository keeps its branches in a reftable, which Orrery does not write.', {
      rule: 'A branch is written only where a step that was cut off can be told from the work of another program.',
      fix: `Fetch the result yourself: git fetch "${mirror}" ${sha}:refs/heads/${change.branch}`,
    });
  // What is left of branches whose names began with this one's.
  if (lookAt(ref)?.isDirectory() === true) removeEmptyFolder(ref);
  if (lookAt(ref)?.isDirectory() === true || readText(ref).startsWith('ref:'))
    throw new OrreryError('unsupported', `The branch ${change.branch} is no plain branch.`, {
      fix: 'Choose another name: orrery task apply TASK --branch NAME',
    });
  takeLock(
    { marker: refMarker, lock: refLock, like: join(change.commonDir, 'HEAD') },
    '',
    `Another program works on the branch ${change.branch}`,
  );
  if ((await branchCommit(git, change)) === change.old) return;
  throw new OrreryError('conflict', `The branch ${change.branch} moved meanwhile.`, {
    rule: 'A branch is moved only from where it was seen.',
    fix: 'Run the command again.',
  });
};

/** Where the branch is now; null when it is not there. */
export const branchCommit = async (git: ChangeTools['git'], { repository, branch }: Change): Promise<string | null> => {
  const { code, stdout } = await git.run({
    ...userCall(repository),
    args: ['rev-parse', '--verify', '--quiet', `${branchRef(branch)}^{commit}`],
    okCodes: [0, 1, 128],
  });
  return code === 0 ? stdout.toString('utf8').trim() : null;
};

/**
 * Sets the branch to the change's target and says so in the reflogs, as Git does. Nothing happens when the lock is no longer
 * the change's own: somebody took it away, or the branch is set already.
 */
export const writeBranch = async ({ git, step }: Omit<ChangeTools, 'journal'>, change: Change): Promise<void> => {
  const { ref, refLock } = lockPaths(change);
  const { refMarker } = stagePaths(change);
  if (change.target === null || !isOwn(refMarker, refLock)) return;
  const moved = `${change.old ?? none} ${change.target} `;
  const who = await git.run({ ...userCall(change.repository), args: ['var', 'GIT_COMMITTER_IDENT'], okCodes: [0, 128] });
  const by =
    who.code === 0 ? who.stdout.toString('utf8').trim() : `Orrery <orrery@localhost> ${Math.floor(Date.now() / 1000)} +0000`;
  for (const log of await reflogs(git, change)) {
    await step();
    const lines = readText(log).trimEnd().split('\n');
    if (lines.at(-1)?.startsWith(moved) === true) continue;
    mkdirSync(dirname(log), { recursive: true });
    appendFileSync(log, `${moved}${by}\torrery: apply\n`);
  }
  await step();
  writeFileSync(refMarker, `${change.target}\n`);
  await step();
  commitLock({ lock: refLock, path: ref });
};

/** The reflogs that the branch has or gets: its own by the user's configuration, HEAD's when it is checked out here. */
const reflogs = async (git: ChangeTools['git'], change: Change): Promise<string[]> => {
  const own = join(change.commonDir, 'logs', branchRef(change.branch));
  const head = join(change.gitDir, 'logs/HEAD');
  const configured = await git.run({
    ...userCall(change.repository),
    args: ['config', '--get', 'core.logAllRefUpdates'],
    okCodes: [0, 1],
  });
  const setting = configured.stdout.toString('utf8').trim().toLowerCase();
  const bare = change.gitDir === change.repository;
  const wanted = setting === '' ? !bare : !['false', 'no', 'off', '0'].includes(setting);
  return [...(wanted || lookAt(own) !== null ? [own] : []), ...(change.tree && (wanted || lookAt(head) !== null) ? [head] : [])];
};

const readText = (path: string): string => (lookAt(path)?.isFile() === true ? readFileSync(path, 'utf8') : '');
