// Ignored files of the user's own folder, brought into a checkout before anything runs in it.
import { join } from 'node:path';
import { lookAt } from '../files/tree-walk.ts';
import { viewCall } from '../git/snapshot.ts';
import { mirrorPath, slotPaths, type WorkspaceContext } from './model.ts';
import { hashOf, hasPlainParents, inheritCopied, noteCopied, putCopy } from './copied.ts';
import { claimedRow } from './claimed.ts';
import { projectOf } from './store.ts';
import { readWanted } from './wanted-files.ts';

/** What was brought, and what was not, in words that hold names and no content. */
export type Brought = { readonly files: number; readonly notes: readonly string[] };

/**
 * Copies the ignored files that `patterns` name from the project's folder into a checkout. Repeatable until a program has
 * run there. Rejects with `input_too_large` beyond the limits.
 */
export const bringFiles = (context: WorkspaceContext, id: string, patterns: readonly string[]): Promise<Brought> =>
  context.mutex.run(`checkout:${id}`, async () => {
    if (patterns.length === 0) return { files: 0, notes: [] };
    const row = await claimedRow(context, id);
    const project = await projectOf(context.store.read, row.project_id);
    const folder = project === undefined ? null : await folderOf(context, project);
    if (folder === null)
      return { files: 0, notes: ['nothing was copied (copy): the project has no folder on this machine, only commits'] };
    const wanted = await readWanted({ git: context.git, root: folder, patterns, protectedPath: context.dataDirectory });
    const paths = slotPaths(row.path);
    const tracked = await trackedOf(context, row.project_id, { slot: row.path, paths: wanted.files.map(({ path }) => path) });
    const notes = [...wanted.notes];
    const files = wanted.files.filter(({ path }) => {
      const why = tracked.has(path)
        ? 'the commit that the checkout begins at has a file of that name'
        : hasPlainParents(paths.tree, path) && lookAt(join(paths.tree, path))?.isDirectory() !== true
          ? null
          : 'what is a folder and what is a file differs in the checkout';
      if (why !== null) notes.push(`${path} was not copied: ${why}`);
      return why === null;
    });
    await noteCopied(paths, Object.fromEntries(files.map(({ path, content }) => [path, hashOf(content)])));
    for (const file of files) await putCopy(paths.tree, file);
    return { files: files.length, notes };
  });

/** Makes what was copied into one checkout count as copied in another, which is about to become a copy of it. */
export const likeFiles = async (context: WorkspaceContext, id: string, from: string): Promise<void> =>
  inheritCopied((await claimedRow(context, from)).path, (await claimedRow(context, id)).path);

/** The work tree of a project; null when it has none. */
const folderOf = async (
  { git }: WorkspaceContext,
  { kind, source }: { readonly kind: string; readonly source: string },
): Promise<string | null> => {
  if (kind === 'url') return null;
  const bare = await git.text({ profile: 'user', cwd: source, args: ['rev-parse', '--is-bare-repository'] });
  return bare === 'true' ? null : source;
};

/** Which of these paths the checkout has from its commit. */
const trackedOf = async (
  context: WorkspaceContext,
  projectId: string,
  { slot, paths }: { readonly slot: string; readonly paths: readonly string[] },
): Promise<ReadonlySet<string>> => {
  const view = { git: context.git, mirror: mirrorPath(context.dataDirectory, projectId), ...slotPaths(slot) };
  const { stdout } = await context.git.run({ ...viewCall(view), args: ['ls-files', '-z'] });
  const tracked = new Set(stdout.toString('utf8').split('\0'));
  return new Set(paths.filter((path) => tracked.has(path)));
};
