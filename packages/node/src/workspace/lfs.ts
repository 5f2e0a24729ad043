// Files of Git LFS in a checkout. The node fetches their objects itself, with the operator's credentials, before anything
// runs; programs see files, and neither a server nor a credential.
import { chmodSync, constants, lutimesSync } from 'node:fs';
import { copyFile, mkdir, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { absoluteBytes, lookAt } from '../files/tree-walk.ts';
import { gitDirConfig } from '../git/git-dir.ts';
import { askForObjects, type Asking } from '../git/lfs/batch.ts';
import { writeIndexTimes } from '../git/lfs/index-times.ts';
import { contentOf, fetchObject, objectPath, touchObjects, trimObjects } from '../git/lfs/objects.ts';
import { pointerFiles, type Pointer, type PointerFile } from '../git/lfs/pointer.ts';
import { readLfs, untouchedTimes, type FilledFile, type LfsRecord } from '../git/lfs/record.ts';
import { certificatesFor, credentialsFor, findServer, lfsRefused, type LfsServer } from '../git/lfs/server.ts';
import { LFS_AT_ONCE, LFS_BATCH, LFS_BYTES, LFS_FETCH_MS, LFS_FILES, LFS_FILE_BYTES } from '../git/limits.ts';
import { viewCall, type CheckoutView } from '../git/snapshot.ts';
import { writeDurably } from '../kernel/durable-file.ts';
import { claimedRow, type ClaimedRow } from './claimed.ts';
import { hasPlainParents, putCopy } from './copied.ts';
import type { LfsPolicy, WorkspaceContext } from './model.ts';
import { viewOf } from './slot.ts';
import { projectOf } from './store.ts';
import { readModules, remoteOf } from './submodules.ts';

/** What was filled, and what is worth knowing. */
export type FilledLfs = { readonly files: number; readonly bytes: number; readonly notes: readonly string[] };

/** Older than any index that is written from now on, so that Git need not doubt the time. */
const AGE_MS = 10_000;

/**
 * Gives a checkout in which nothing ran yet the contents of its files in Git LFS. Rejects with `repository_unusable` when one
 * cannot be had: a checkout is filled or it is not. Repeatable.
 */
export const fillLfs = (context: WorkspaceContext, id: string, policy: LfsPolicy): Promise<FilledLfs> =>
  context.mutex.run(`checkout:${id}`, async () => {
    if (policy === 'pointers') return { files: 0, bytes: 0, notes: [] };
    const row = await claimedRow(context, id);
    const view = viewOf(context, row.project_id, row.path);
    const found = await pointerFiles(context.git, viewCall(view), row.base_sha);
    if (found.length === 0) return { files: 0, bytes: 0, notes: [] };
    checkBounds(found);
    const { blobs, notes } = await context.mutex.run(`lfs:${view.mirror}`, () => obtain(context, { row, view, found }));
    const mtimeMs = Math.floor((context.clock.nowMs() - AGE_MS) / 1000) * 1000;
    const files = found.map((file): FilledFile => ({ ...file, blob: blobs.get(file.oid) ?? '' }));
    // Before the first of them: whatever comes next, the node knows its own contents.
    await writeDurably(view.lfs, JSON.stringify({ mtimeMs, files } satisfies LfsRecord));
    for (const file of files) await placeFile(view, file, mtimeMs);
    await settleGit(context, view);
    return { files: files.length, bytes: found.reduce((sum, { size }) => sum + size, 0), notes };
  });

/** After files of a checkout were written anew from commits: those that became pointers are filled again, from what is kept. */
export const refillLfs = async (context: WorkspaceContext, view: CheckoutView): Promise<readonly string[]> => {
  const record = await readLfs(view);
  const missing: string[] = [];
  for (const file of record.files) {
    const at = lookAt(absoluteBytes(view.tree, file.path));
    // A pointer is smaller than what it stands for, or as small: only its own text is written over.
    if (at?.isFile() !== true || (await blobOf(view, file.path)) !== file.sha) continue;
    if ((await contentOf(objectPath(view.mirror, file.oid), file.size))?.oid !== file.oid) missing.push(file.path);
    else await placeFile(view, file, record.mtimeMs);
  }
  return missing.length === 0 ? [] : [`${missing.length} files of Git LFS are pointers now: their objects are kept no longer`];
};

const blobOf = async (view: CheckoutView, path: string): Promise<string> => {
  const at = Buffer.from(path, 'latin1').toString('utf8');
  const { size } = lookAt(join(view.tree, at)) ?? { size: 0 };
  return (await contentOf(join(view.tree, at), size))?.blob ?? '';
};

const checkBounds = (files: readonly PointerFile[]): void => {
  const rule = `At most ${LFS_FILES} files of ${LFS_FILE_BYTES} bytes each, and ${LFS_BYTES} bytes together.`;
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (files.length > LFS_FILES) throw lfsRefused(`there are ${files.length}`, rule);
  if (bytes > LFS_BYTES) throw lfsRefused(`they are ${bytes} bytes large`, rule);
  const large = files.find(({ size }) => size > LFS_FILE_BYTES);
  if (large !== undefined) throw lfsRefused(`one is ${large.size} bytes large`, rule);
  const strange = files.find(({ path }) => Buffer.from(path, 'latin1').toString('utf8').includes('\ufffd'));
  if (strange !== undefined) throw lfsRefused('the name of one is no text', 'Names in UTF-8.');
};

type Obtaining = { readonly row: ClaimedRow; readonly view: CheckoutView; readonly found: readonly PointerFile[] };

/** Brings every object into the mirror's folder; answers the names that their contents have as blobs. */
const obtain = async (
  context: WorkspaceContext,
  { row, view, found }: Obtaining,
): Promise<{ readonly blobs: ReadonlyMap<string, string>; readonly notes: readonly string[] }> => {
  const { mirror } = view;
  const project = await projectOf(context.store.read, row.project_id);
  const folder = project === undefined || project.kind === 'url' ? null : project.source;
  const own = folder === null ? null : await gitDirOf(context, folder);
  const wanted = [...new Map(found.map(({ oid, size }) => [oid, { oid, size }])).values()];
  const blobs = new Map<string, string>();
  const check = async (pointer: Pointer): Promise<boolean> => {
    const content = await contentOf(objectPath(mirror, pointer.oid), pointer.size);
    if (content?.oid === pointer.oid) blobs.set(pointer.oid, content.blob);
    return content?.oid === pointer.oid;
  };
  const missing: Pointer[] = [];
  for (const pointer of wanted)
    if (!(await check(pointer)) && !(await takeOwn(mirror, own, pointer).then((taken) => taken && check(pointer))))
      missing.push(pointer);
  let notes: readonly string[] = [];
  if (missing.length > 0) {
    const remote = (await remoteOf(context, folder)) ?? project?.source ?? '';
    const answer = await findServer(context.git, { folder, remote, mirror, commit: row.base_sha });
    notes = answer.notes;
    if (answer.server === null)
      throw lfsRefused(
        `${missing.length} objects are not on this machine, and there is no server for them`,
        'From your own clone (git lfs pull), or from the host of its remote by https.',
      );
    await fetchAll(context, { mirror, server: answer.server, missing });
    for (const pointer of missing)
      if (!(await check(pointer))) throw lfsRefused('an object that was just fetched is not there', 'Each is read again.');
  }
  await touchObjects(mirror, wanted, context.clock.nowMs());
  await trimObjects(mirror, new Set(wanted.map(({ oid }) => oid)));
  return { blobs, notes };
};

const gitDirOf = ({ git }: WorkspaceContext, cwd: string): Promise<string> =>
  git.text({ profile: 'user', cwd, args: ['rev-parse', '--path-format=absolute', '--git-common-dir'] });

/** What the user's own clone has already; nothing of it is shared afterwards. */
const takeOwn = async (mirror: string, own: string | null, { oid, size }: Pointer): Promise<boolean> => {
  if (own === null || (await contentOf(objectPath(own, oid), size))?.oid !== oid) return false;
  const target = objectPath(mirror, oid);
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  await copyFile(objectPath(own, oid), target, constants.COPYFILE_FICLONE);
  chmodSync(target, 0o600);
  return true;
};

const fetchAll = async (
  context: WorkspaceContext,
  { mirror, server, missing }: { mirror: string; server: LfsServer; missing: readonly Pointer[] },
): Promise<void> => {
  const { git } = context;
  const signal = AbortSignal.any([AbortSignal.timeout(LFS_FETCH_MS), context.stopping]);
  const certificates = await certificatesFor(git, server);
  const net = { signal, certificates, lookup: context.lookup, trustedHost: server.url.host };
  let said: Promise<string | null> | null = null;
  const asking: Asking = { url: server.url, net, credentials: () => (said ??= credentialsFor(git, server)) };
  for (let at = 0; at < missing.length; at += LFS_BATCH) {
    const downloads = [...(await askForObjects(asking, missing.slice(at, at + LFS_BATCH)))];
    await Promise.all(
      Array.from({ length: LFS_AT_ONCE }, async () => {
        for (let next = downloads.shift(); next !== undefined; next = downloads.shift()) await fetchObject(net, mirror, next);
      }),
    );
  }
};

/** Puts a content where its pointer is; a copy, for an agent writes in its files. */
const placeFile = async (view: CheckoutView, file: FilledFile, mtimeMs: number): Promise<void> => {
  const path = Buffer.from(file.path, 'latin1').toString('utf8');
  if (!hasPlainParents(view.tree, path)) throw lfsRefused('a folder of one is a link', 'Files are filled in real folders.');
  const target = join(view.tree, path);
  if (lookAt(target) !== null) await unlink(target);
  await copyFile(objectPath(view.mirror, file.oid), target, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  chmodSync(target, (file.program ? 0o777 : 0o666) & ~process.umask());
  lutimesSync(target, mtimeMs / 1000, mtimeMs / 1000);
};

/** Git takes the files for their pointers then, on the node's side and on the agent's, until they are touched. */
const settleGit = async (context: WorkspaceContext, view: CheckoutView): Promise<void> => {
  const times = untouchedTimes(view.tree, await readLfs(view));
  await writeIndexTimes(view.index, times);
  await writeIndexTimes(join(view.tree, '.git/index'), times);
  const modules = (await readModules(view)).length > 0;
  const config = gitDirConfig({ kind: 'agent', user: context.identity, modules, lfs: true });
  await putCopy(view.tree, { path: '.git/config', content: Buffer.from(config), mode: 0o644 });
};
