// Lists of a tree (`orrery-keeper list`), and what changed between two of them.
import { OrreryError } from '@orrery/protocol/errors';

/** One entry: its path below the tree, and everything that says whether it is still the same. */
export type Entry = {
  readonly path: string;
  readonly type: string;
  readonly size: number;
  /** The same as long as nobody wrote to it here. */
  readonly stamp: string;
  /** The same for a faithful copy of it elsewhere. */
  readonly likeness: string;
};

/** What has to be brought, and what has to go, to make one tree the other. */
export type Changes = { readonly changed: readonly string[]; readonly gone: readonly string[] };

/** The list of a tree with nothing in it. */
export const EMPTY_LIST: Uint8Array = Buffer.of(0);

const FIELDS = 8;

const refuse = (what: string): OrreryError =>
  new OrreryError('path_refused', `The list of a tree in the place cannot be used: ${what}.`, {
    rule: 'It names paths below the tree, each by plain names.',
  });

/** Whether a path stays below its tree. */
const isBelow = (path: string): boolean =>
  path !== '' && !path.startsWith('/') && !path.split('/').some((name) => name === '' || name === '.' || name === '..');

/**
 * The entries of a list. It comes from where an agent works, so nothing in it is believed: a path that leads out of the
 * tree is `path_refused`. Names are bytes: they are kept as Latin-1 text, one character for each.
 */
export const readListing = (list: Uint8Array): Map<string, Entry> => {
  const text = Buffer.from(list.buffer, list.byteOffset, list.byteLength).toString('latin1');
  const fields = text.split('\0');
  // Each field is ended by a NUL, and the whole list by one more: two empty pieces at its end.
  const whole = fields.pop() === '' && fields.pop() === '';
  if (!whole || fields.length % FIELDS !== 0) throw refuse('it is cut off');
  const entries = new Map<string, Entry>();
  for (let at = 0; at < fields.length; at += FIELDS) {
    const [path = '', type = '', mode = '', size = '', modified = '', , , target = ''] = fields.slice(at, at + FIELDS);
    if (!isBelow(path)) throw refuse('a path leads out of it');
    const stamp = fields.slice(at + 1, at + FIELDS).join('\0');
    // Sizes and times of folders are their file system's own.
    const likeness = (type === 'd' ? [type, mode] : [type, mode, size, modified, target]).join('\0');
    entries.set(path, { path, type, size: Number(size), stamp, likeness });
  }
  return entries;
};

const parentIn = (path: string, set: ReadonlySet<string>): boolean => {
  for (let cut = path.lastIndexOf('/'); cut > 0; cut = path.lastIndexOf('/', cut - 1))
    if (set.has(path.slice(0, cut))) return true;
  return false;
};

/**
 * What `after` has that `before` has not or has otherwise, parents first, and what only `before` has: the topmost paths
 * alone. Lists of one tree are compared by their stamps, those of a tree and its copy by likeness.
 */
export const compareListings = (
  before: ReadonlyMap<string, Entry>,
  after: ReadonlyMap<string, Entry>,
  by: 'stamp' | 'likeness' = 'stamp',
): Changes => {
  const changed = [...after.values()].filter((entry) => before.get(entry.path)?.[by] !== entry[by]).map(({ path }) => path);
  // What became something else is taken away first: a folder does not turn into a file by being written over.
  const gone = new Set([...before.values()].filter(({ path, type }) => after.get(path)?.type !== type).map(({ path }) => path));
  return { changed: changed.toSorted(), gone: [...gone].filter((path) => !parentIn(path, gone)).toSorted() };
};
