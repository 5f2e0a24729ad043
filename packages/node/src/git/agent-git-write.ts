// Writes into an agent's Git directory, which is outside text: by plain files alone. No link is followed, no Git command
// has it as its directory, and nothing is deleted: what is in the way is moved aside within it.
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { lookAt } from '../files/tree-walk.ts';
import { isRefName, isSha } from './names.ts';

/** Where HEAD, its branch and the index are to be. */
export type AgentPlace = {
  readonly headSha: string;
  /** `refs/heads/…`; null: HEAD is detached. */
  readonly branch: string | null;
  /** Bytes of the index; null: it is left to Git to make one. */
  readonly index: Uint8Array | null;
};

/** Unfinished operations, and the index with its lock: moved aside when HEAD goes elsewhere. */
const unfinished = [
  ...['rebase-merge', 'rebase-apply', 'sequencer', 'MERGE_HEAD', 'MERGE_MSG', 'MERGE_MODE', 'CHERRY_PICK_HEAD', 'REVERT_HEAD'],
  ...['BISECT_LOG', 'BISECT_START', 'AUTO_MERGE', 'index', 'index.lock', 'HEAD.lock'],
];

/** Puts HEAD, its branch and the index where they are to be. Answers what could not be done, in sentences. Repeatable. */
export const placeAgentHead = async (root: string, place: AgentPlace): Promise<string[]> => {
  if (lookAt(root)?.isDirectory() !== true) return ['its .git is no folder any more: HEAD and index stay as they are'];
  if (!isSha(place.headSha) || (place.branch !== null && !isRefName(place.branch)))
    throw new Error('a place that is no commit or no branch');
  const aside = join(root, `orrery-undone-${randomBytes(6).toString('hex')}`);
  for (const name of unfinished) {
    if (lookAt(join(root, name)) === null) continue;
    await mkdir(aside, { recursive: true, mode: 0o700 });
    await rename(join(root, name), join(aside, name));
  }
  const files: readonly (readonly [string, string | Uint8Array])[] = [
    ...(place.branch === null ? [] : [[place.branch, `${place.headSha}\n`] as const]),
    ['HEAD', place.branch === null ? `${place.headSha}\n` : `ref: ${place.branch}\n`],
    ...(place.index === null ? [] : [['index', place.index] as const]),
  ];
  const notes: string[] = [];
  for (const [name, content] of files) if (!(await put(root, name, content))) notes.push(`its .git/${name} cannot be written`);
  return notes;
};

/** Puts a file in the place of whatever file or link is there. False: something else than a folder is on the way. */
const put = async (root: string, name: string, content: string | Uint8Array): Promise<boolean> => {
  for (let folder = dirname(name), way: string[] = []; ; folder = dirname(folder)) {
    if (folder !== '.') {
      way = [folder, ...way];
      continue;
    }
    for (const one of way) {
      if (lookAt(join(root, one)) === null) await mkdir(join(root, one), { mode: 0o755 });
      if (lookAt(join(root, one))?.isDirectory() !== true) return false;
    }
    break;
  }
  if (lookAt(join(root, name))?.isDirectory() === true) return false;
  const fresh = join(root, `orrery-${randomBytes(8).toString('hex')}`);
  const file = await open(fresh, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o644);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(fresh, join(root, name));
  return true;
};
