// Glossary. A checkpoint is a commit of the mirror that holds all files of a checkout as they were at one moment, on top of
// the agent's HEAD, with its index beside it. Making one changes nothing in the checkout; going back to one saves first.

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { copyFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import { absoluteBytes, isErrno, lookAt, showBytes, walkTree, type BytePath } from '../files/tree-walk.ts';
import { placeAgentHead } from '../git/agent-git-write.ts';
import { readAgentGit } from '../git/agent-git.ts';
import { listRefs, writeRef } from '../git/mirror.ts';
import { refPart } from '../git/names.ts';
import { unlockIndex, viewCall, type CheckoutView } from '../git/snapshot.ts';
import { CHECKPOINT_INDEX_BYTES } from '../git/limits.ts';
import { GIT_WRITE_MS } from '../kernel/limits.ts';
import { claimedRow } from './claimed.ts';
import { gather } from './gather.ts';
import { refillLfs } from './lfs.ts';
import type { Saved, WorkspaceContext } from './model.ts';
import { saveUnsaved } from './release.ts';
import { viewOf } from './slot.ts';

/** What a checkpoint holds. */
export type CheckoutPoint = {
  /** The commit with all files. */
  readonly sha: string;
  /** The agent's HEAD, and the branch it names; null: detached, or broken. */
  readonly headSha: string;
  readonly branch: string | null;
  /** Its index as a blob of the mirror; null: there was none that could be read. */
  readonly staged: string | null;
};

/** Saves a checkout as it is now below `refs/orrery/checkpoints/<owner>/<name>`. Nothing in it is changed, nor in its `.git`. */
export const checkpointCheckout = (
  context: WorkspaceContext,
  id: string,
  { owner, name }: { readonly owner: string; readonly name: string },
): Promise<CheckoutPoint & { readonly ref: string; readonly notes: readonly string[] }> =>
  context.mutex.run(`checkout:${id}`, async () => {
    const row = await claimedRow(context, id);
    const view = viewOf(context, row.project_id, row.path);
    const [staged, { branch }] = await Promise.all([keepIndex(context, view), readAgentGit(view.tree)]);
    const { finalSha, headSha, notes } = await gather(context, view, { baseSha: row.base_sha });
    const ref = `refs/orrery/checkpoints/${refPart(owner)}/${refPart(name)}`;
    await writeRef(view.mirror, { ref, sha: finalSha });
    return { ref, sha: finalSha, headSha, branch, staged, notes };
  });

/** Checkpoints that a project's mirror has, and when each was named (ms; null: its ref is no file of its own any more); none where it has no mirror. */
export const listCheckpoints = async (
  context: WorkspaceContext,
  projectId: string,
): Promise<readonly { readonly ref: string; readonly sha: string; readonly namedMs: number | null }[]> => {
  const { mirror } = viewOf(context, projectId, '/nonexistent');
  if (lookAt(mirror) === null) return [];
  const refs = await listRefs(context.git, mirror, 'refs/orrery/checkpoints/');
  return refs.map(({ ref, sha }) => ({ ref, sha, namedMs: lookAt(join(mirror, ref))?.mtimeMs ?? null }));
};

/** Takes a checkpoint's ref away; its objects stay in the mirror. */
export const dropCheckpoint = async (
  context: WorkspaceContext,
  projectId: string,
  { ref, sha }: { readonly ref: string; readonly sha: string },
): Promise<void> => {
  if (!ref.startsWith('refs/orrery/checkpoints/')) throw new Error(`${ref} is no checkpoint`);
  const { mirror } = viewOf(context, projectId, '/nonexistent');
  await context.git.run({ gitDir: mirror, readOnly: false, args: ['update-ref', '-d', ref, sha] });
};

/**
 * Makes the files of a checkout, HEAD, its branch and the index those of a checkpoint. What nothing else has is saved first
 * and told to `onSaved` before anything is changed. Ignored files stay, and so do other branches. No program may run in it.
 * Repeatable: begun anew, it comes to the same. @throws OrreryError conflict when something that is not saved is in the way
 */
export const restoreCheckout = (
  context: WorkspaceContext,
  id: string,
  {
    point,
    reason,
    onSaved,
  }: {
    readonly point: CheckoutPoint;
    readonly reason: string;
    readonly onSaved: (saved: readonly Saved[]) => Promise<void>;
  },
): Promise<readonly string[]> =>
  context.mutex.run(`checkout:${id}`, async () => {
    const row = await claimedRow(context, id);
    context.collected.delete(id);
    const view = viewOf(context, row.project_id, row.path);
    const gathered = await gather(context, view, { baseSha: row.base_sha });
    await checkWay(context, view, { from: gathered.finalSha, to: point.sha });
    await onSaved(await saveUnsaved(context, { row, view, gathered }, reason));
    await writeFiles(view, { from: gathered.finalSha, to: point.sha });
    const notes = await refillLfs(context, view);
    const index = point.staged === null ? null : await readBlob(context, view.mirror, point.staged);
    return [
      ...notes,
      ...(await placeAgentHead(join(view.tree, '.git'), { headSha: point.headSha, branch: point.branch, index })),
    ];
  });

/** Git compares the contents of every file with what is saved (the index knows no times), then writes what differs. */
const writeFiles = async (view: CheckoutView, { from, to }: { readonly from: string; readonly to: string }): Promise<void> => {
  const temporary = `${view.index}.rewind`;
  await unlockIndex(temporary);
  await copyFile(view.index, temporary);
  const call = { ...viewCall({ ...view, index: temporary }), readOnly: false, timeoutMs: GIT_WRITE_MS };
  await view.git.run({ ...call, args: ['read-tree', from] });
  await view.git.run({ ...call, args: ['update-index', '-q', '--really-refresh', '--ignore-submodules'], okCodes: [0, 1] });
  await view.git.run({ ...call, args: ['read-tree', '--reset', '-u', to] });
  await unlink(temporary);
};

/** What is to come where something lies that is not saved: an ignored file, a link on the way. */
const checkWay = async (
  context: WorkspaceContext,
  { mirror, tree }: CheckoutView,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> => {
  const list = async (filter: string): Promise<BytePath[]> => {
    const args = ['diff-tree', '-r', '-z', '--no-renames', '--name-only', `--diff-filter=${filter}`, from, to];
    const { stdout } = await context.git.run({ gitDir: mirror, args });
    return stdout
      .toString('latin1')
      .split('\0')
      .filter((path) => path !== '');
  };
  const gone = new Set(await list('D'));
  for (const path of await list('A')) {
    const way = path.split('/');
    for (let count = 1; count <= way.length; count++) {
      const at = way.slice(0, count).join('/');
      const found = lookAt(absoluteBytes(tree, at));
      if (found === null) break;
      if (count < way.length && found.isDirectory()) continue;
      const blocked = found.isDirectory() ? await holdsOther(tree, at, gone) : !gone.has(at);
      if (blocked) throw inTheWay(at);
      break;
    }
  }
};

const holdsOther = async (tree: string, folder: BytePath, gone: ReadonlySet<BytePath>): Promise<boolean> =>
  (await walkTree(showBytes(`${Buffer.from(tree).toString('latin1')}/${folder}`))).some(
    ({ path, type }) => type !== 'folder' && !gone.has(`${folder}/${path}`),
  );

const inTheWay = (path: BytePath): OrreryError =>
  new OrreryError('conflict', `${showBytes(path)} is in the way: it is ignored, and nothing has a copy of it.`, {
    rule: 'Going back writes over what is saved, and nothing else.',
    fix: 'Move it aside and go back again.',
  });

/** The agent's index as a blob of the mirror: bytes, which no Git command reads here. */
const keepIndex = async (context: WorkspaceContext, view: CheckoutView): Promise<string | null> => {
  const bytes = readIndex(join(view.tree, '.git'));
  if (bytes === null) return null;
  const args = ['hash-object', '-w', '--stdin'];
  return context.git.text({ gitDir: view.mirror, readOnly: false, timeoutMs: GIT_WRITE_MS, args, input: bytes });
};

const readIndex = (root: string): Buffer | null => {
  if (lookAt(root)?.isDirectory() !== true) return null;
  let descriptor: number;
  try {
    descriptor = openSync(join(root, 'index'), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (thrown) {
    if (isErrno(thrown, 'ENOENT', 'ELOOP', 'ENOTDIR', 'EACCES', 'ENXIO')) return null;
    throw thrown;
  }
  try {
    const found = fstatSync(descriptor);
    if (!found.isFile() || found.size > CHECKPOINT_INDEX_BYTES) return null;
    const bytes = Buffer.alloc(found.size);
    return bytes.subarray(0, readSync(descriptor, bytes, 0, found.size, 0));
  } finally {
    closeSync(descriptor);
  }
};

const readBlob = async (context: WorkspaceContext, mirror: string, sha: string): Promise<Buffer> =>
  (await context.git.run({ gitDir: mirror, args: ['cat-file', 'blob', sha], maxOutputBytes: CHECKPOINT_INDEX_BYTES + 1 })).stdout;
