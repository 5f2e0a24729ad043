// Files that Git itself reads wherever a tree is checked out. In commits of an agent's they are checked when its objects are
// taken; here the same check is made of files that were not committed, before the node commits them.
import { unlink } from 'node:fs/promises';
import { absoluteBytes, isErrno, lookAt, showBytes, type BytePath } from '../files/tree-walk.ts';
import { stderrOf, type Git, type GitCall } from './run.ts';

/** What is in the way of taking a file, by its path, and what is to be said of one that is taken. */
export type GitFilesCheck = { readonly refused: ReadonlyMap<BytePath, string>; readonly notes: readonly string[] };

/** Files of such names that are looked at one by one; in an honest checkout there are few, and of more none is taken. */
const CHECKED_FILES = 32;

/** Whether some system takes a file's name for one that Git reads: case, characters that nobody sees and short names are its own. */
export const isGitFileName = (path: BytePath): boolean => {
  const name = Buffer.from(path.slice(path.lastIndexOf('/') + 1), 'latin1').toString('utf8');
  // oxlint-disable-next-line no-control-regex
  const plain = name.replace(/[^\u0021-\u007e]/g, '').toLowerCase();
  return /^(\.git[a-z]|git[a-z]{0,3}~\d|gi[0-9a-f]{4}~\d)/.test(plain);
};

/**
 * Looks at those of `paths` that Git reads by name, by Git's own check of objects that come from elsewhere. `call` has the
 * work tree, and the objects of the mirror to write to; its index is not used.
 */
export const checkGitFiles = async (
  git: Git,
  call: Omit<GitCall, 'args'> & { readonly workTree: string; readonly indexFile: string },
  paths: readonly BytePath[],
): Promise<GitFilesCheck> => {
  const named = paths.filter(isGitFileName);
  if (named.length === 0) return { refused: new Map(), notes: [] };
  const refused = new Map<BytePath, string>();
  const scratch = { ...call, indexFile: `${call.indexFile}.check`, readOnly: false };
  const checked = named.slice(0, CHECKED_FILES);
  for (const path of named.slice(CHECKED_FILES)) refused.set(path, `more than ${CHECKED_FILES} files of such names`);
  if ((await problemOf(git, scratch, checked)) !== null) {
    for (const path of checked) {
      const problem = await problemOf(git, scratch, [path]);
      if (problem !== null) refused.set(path, problem);
    }
  }
  // A link of the name .gitmodules is not even stored.
  const links = checked.filter(
    (path) => /\.gitattributes$/i.test(path) && lookAt(absoluteBytes(call.workTree, path))?.isSymbolicLink() === true,
  );
  return { refused, notes: links.map((path) => `${showBytes(path)}: a link, which Git does not follow`) };
};

/** Why Git would not take these files from elsewhere, or null. What it does not even store is not asked for here. */
const problemOf = async (git: Git, scratch: Omit<GitCall, 'args'>, paths: readonly BytePath[]): Promise<string | null> => {
  const input = Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1');
  try {
    await git.run({ ...scratch, args: ['update-index', '-z', '--add', '--stdin'], input });
  } catch (thrown) {
    return paths.length > 1 ? stderrOf(thrown) : null;
  }
  try {
    const tree = await git.text({ ...scratch, args: ['write-tree'] });
    // They are written already; unpacking them anew checks each and writes nothing.
    await git.pipe(
      { ...scratch, args: ['pack-objects', '--revs', '--stdout', '-q'], input: `${tree}\n` },
      { ...scratch, args: ['unpack-objects', '-q', '--strict'] },
    );
    return null;
  } catch (thrown) {
    return /object [0-9a-f]{40}: (.*)/.exec(stderrOf(thrown))?.[1] ?? 'Git does not take it';
  } finally {
    await unlink(scratch.indexFile ?? '').catch((thrown: unknown) => {
      if (!isErrno(thrown, 'ENOENT')) throw thrown;
    });
  }
};
