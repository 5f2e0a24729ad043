// Bringing trees to a place and what was done with them back.
import { Readable, Transform } from 'node:stream';
import { OrreryError } from '@orrery/protocol/errors';
import type { LocalTrees } from '../../keeper/trees.ts';
import { commandFailed, mustRun, startInPlace, unreachable } from './command.ts';
import { STAGED_BYTES, STAGED_ENTRIES, STAGE_MS } from './limits.ts';
import { compareListings, readListing } from './listing.ts';
import type { Entry } from './listing.ts';
import type { PlaceLayout } from './layout.ts';
import { patiently } from './patience.ts';
import type { Line } from './patience.ts';
import { tarStream } from './tar.ts';
import type { TarPart } from './tar.ts';

/** A tree that is here and in the place. */
export type StagedTree = {
  readonly name: string;
  readonly local: string;
  readonly inside: string;
  /** Paths below it that are not compared and never carried back. */
  readonly skip: readonly string[];
  /** Only this folder of it, with the folders that lead there; absent: all. */
  readonly only?: string;
};

/** The file of a checkout that says where its borrowed objects are. It differs here and there, so it is never carried back. */
export const ALTERNATES = '.git/objects/info/alternates';

/** The checkout as it lies in a place that does not see this machine's. */
export const workTree = ({ work }: Pick<PlaceLayout, 'work'>): Omit<StagedTree, 'local'> => ({
  name: 'work',
  inside: work,
  skip: [ALTERNATES],
});

/** What staging works with. */
export type Stager = { readonly line: Line; readonly trees: LocalTrees };

const tooLarge = (tree: string, what: string): OrreryError =>
  new OrreryError('input_too_large', `${tree} has ${what}.`, {
    rule: `At most ${STAGED_ENTRIES} entries and ${STAGED_BYTES} bytes are carried to or from a place.`,
    fix: 'Take what is built or downloaded out of the tree, or use a backend of this machine.',
  });

const checkSize = (tree: string, entries: ReadonlyMap<string, Entry>): void => {
  if (entries.size > STAGED_ENTRIES) throw tooLarge(tree, `${entries.size} entries`);
  let bytes = 0;
  for (const { type, size } of entries.values()) if (type === 'f') bytes += size;
  if (bytes > STAGED_BYTES) throw tooLarge(tree, `${bytes} bytes`);
};

/** The list of a tree with the most entries. */
const LIST_BYTES = 512 * 1024 * 1024;

const ownerArgs = ({ place }: Line): string[] =>
  place.owner === null ? [] : ['--owner', `${place.owner.uid}:${place.owner.gid}`];

type Bringing = {
  readonly local: string;
  readonly argv: readonly string[];
  /** Of the tree; absent: all. */
  readonly paths?: Uint8Array;
};

/** Feeds an archive of a tree of this machine, or of some paths of it, to a command that takes it. Answers what it said. */
const bring = ({ line, trees }: Stager, { local, argv, paths }: Bringing): Promise<Buffer> =>
  patiently(line, async () => {
    const { archive, done } = trees.pack(local, paths);
    done.catch(() => undefined);
    const what = `Bringing ${local}`;
    try {
      const said = await mustRun(line.place, argv, { what, stdin: archive, timeoutMs: STAGE_MS, answerBytes: LIST_BYTES });
      await done;
      return said;
    } finally {
      archive.destroy();
    }
  });

/** Packs a tree of this machine, or some paths of it, into the folder `inside` of the place, beside what is there. Repeatable. */
export const carryTree = async (
  stager: Stager,
  { local, inside }: Pick<StagedTree, 'local' | 'inside'>,
  paths?: Uint8Array,
): Promise<void> => {
  const { line } = stager;
  const argv = [line.layout.keeper, 'unpack', inside, '--make', ...ownerArgs(line)];
  await bring(stager, { local, argv, ...(paths === undefined ? {} : { paths }) });
};

const skipArgs = ({ skip }: Pick<StagedTree, 'skip'>): string[] => skip.flatMap((path) => ['--skip', path]);

/** The list of a tree in the place. */
export const listInside = (line: Line, tree: Pick<StagedTree, 'inside' | 'skip'>): Promise<Buffer> =>
  patiently(line, () => {
    const argv = [line.layout.keeper, 'list', tree.inside, ...skipArgs(tree)];
    return mustRun(line.place, argv, { what: 'Listing a tree', answerBytes: LIST_BYTES, timeoutMs: STAGE_MS });
  });

// The keeper, the tree, arguments about the owner, then what the list skips: a list is made where the tree was changed, at once.
const thenList = (step: string): string => `keeper=$1 tree=$2 owner=$3; shift 3; ${step} && exec "$keeper" list "$tree" "$@"`;
const UNPACK = '"$keeper" unpack "$tree" --make $owner';
const MAKE_AND_LIST = thenList('(umask 077; mkdir -p -- "$tree")');
const ADD_AND_LIST = thenList(UNPACK);
const REPLACE_AND_LIST = thenList(`"$keeper" remove "$tree" && ${UNPACK}`);
const CLEAR_AND_LIST = thenList('"$keeper" remove "$tree" --from-stdin');

const listing = (line: Line, tree: Pick<StagedTree, 'inside' | 'skip'>, script: string): string[] => {
  const owner = ownerArgs(line).join(' ');
  return ['sh', '-c', script, 'sh', line.layout.keeper, tree.inside, owner, ...skipArgs(tree)];
};

/** Brings a tree in, from nothing: what an earlier try left there is taken away. Answers its list there. */
export const stageIn = async (stager: Stager, tree: StagedTree): Promise<Buffer> => {
  checkSize(tree.local, readListing(await stager.trees.list(tree.local, [])));
  return bring(stager, { local: tree.local, argv: listing(stager.line, tree, REPLACE_AND_LIST) });
};

// The keeper, the root, the tree, then what the list skips.
const PUT_AND_LIST = '"$1" unpack "$2" || exit; keeper=$1 tree=$3; shift 3; exec "$keeper" list "$tree" "$@"';

/** Puts files below the root of the place. Answers the list of `tree` after that. */
export const putAndList = ({ line }: Stager, tree: StagedTree, parts: readonly TarPart[]): Promise<Buffer> =>
  patiently(line, async () => {
    const { keeper, root } = line.layout;
    const argv = ['sh', '-c', PUT_AND_LIST, 'sh', keeper, root, tree.inside, ...skipArgs(tree)];
    const stdin = Readable.from(tarStream(parts), { objectMode: false });
    const broken = Promise.withResolvers<never>();
    broken.promise.catch(() => undefined);
    stdin.once('error', broken.reject);
    const options = { what: 'Writing files', stdin, answerBytes: LIST_BYTES, timeoutMs: STAGE_MS };
    try {
      return await Promise.race([mustRun(line.place, argv, options), broken.promise]);
    } finally {
      stdin.destroy();
    }
  });

/** Makes the tree in the place, which was brought there once, what it is here: only what differs is carried. Answers its list. */
export const stageDifference = async (stager: Stager, tree: StagedTree): Promise<Buffer> => {
  const { line, trees } = stager;
  const here = readListing(await trees.list(tree.local, tree.skip));
  checkSize(tree.local, here);
  const ask = (script: string, what: string, stdin?: Uint8Array): Promise<Buffer> => {
    const options = { what, answerBytes: LIST_BYTES, timeoutMs: STAGE_MS, ...(stdin === undefined ? {} : { stdin }) };
    return patiently(line, () => mustRun(line.place, listing(line, tree, script), options));
  };
  const there = await ask(MAKE_AND_LIST, 'Listing a tree');
  const { changed, gone } = compareListings(readListing(there), here, 'likeness');
  const left = gone.length === 0 ? there : await ask(CLEAR_AND_LIST, 'Taking away files', nulList(gone));
  if (changed.length === 0) return left;
  return bring(stager, { local: tree.local, argv: listing(line, tree, ADD_AND_LIST), paths: nulList(changed) });
};

/** Ends an archive that grows past what may be carried. */
const bounded = (name: string): Transform => {
  let bytes = 0;
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      bytes += chunk.length;
      if (bytes > STAGED_BYTES + STAGED_ENTRIES * 1024) done(tooLarge(name, `more than ${STAGED_BYTES} bytes`));
      else done(null, chunk);
    },
  });
};

const nulList = (paths: readonly string[]): Buffer => Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1');

/** Archive of some paths of a tree in the place; it errors when it broke off, so that nobody takes a part for the whole. */
export const packInside = async (line: Line, tree: Pick<StagedTree, 'inside'>, paths: readonly string[]): Promise<Readable> => {
  const argv = [line.layout.keeper, 'pack', tree.inside, '--from-stdin'];
  const process = await startInPlace(line.place, { argv, stdin: nulList(paths), timeoutMs: STAGE_MS });
  const archive = bounded(tree.inside);
  process.stdio.on('error', (thrown: Error) => archive.destroy(unreachable('an archive broke off', thrown)));
  process.stdio.on('data', (bytes: Buffer) => {
    if (!archive.write(bytes)) process.stdio.pause();
  });
  archive.on('drain', () => process.stdio.resume());
  archive.once('close', () => process.close());
  process.stdio.once('end', () => {
    void process.ended.then((ended) => {
      if ('exitCode' in ended && ended.exitCode === 0) archive.end();
      else if ('exitCode' in ended) archive.destroy(commandFailed('Packing a tree', { ...ended, stderr: process.stderr() }));
      else archive.destroy(unreachable(ended.lost));
    });
  });
  void process.ended.then((ended) => {
    if ('lost' in ended) archive.destroy(unreachable(ended.lost));
  });
  return archive;
};

const within = ({ only }: StagedTree, entries: ReadonlyMap<string, Entry>): ReadonlyMap<string, Entry> =>
  only === undefined
    ? entries
    : new Map([...entries].filter(([path]) => path === only || path.startsWith(`${only}/`) || only.startsWith(`${path}/`)));

const UNLOCK = 'chmod -R u+rX -- "$1"';

/** A program may have taken the right to read from its own files: they are work all the same. */
const unlocked = async <T>(
  { line, tree }: { readonly line: Line; readonly tree: StagedTree },
  work: () => Promise<T>,
): Promise<T> => {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof OrreryError && thrown.code === 'backend_unavailable' && /\bEACCES\b/.test(thrown.message)))
      throw thrown;
    await patiently(line, () => mustRun(line.place, ['sh', '-c', UNLOCK, 'sh', tree.inside], { what: 'Reading a locked tree' }));
    return work();
  }
};

// The keeper, the folder of all runs, the tree, then what the list skips.
const SWEEP_AND_LIST = '"$1" sweep "$2" > /dev/null || exit; keeper=$1 tree=$3; shift 3; exec "$keeper" list "$tree" "$@"';

/** Ends every program of the place, with its tree, and answers what they left of `tree`. */
export const sweepAndList = ({ line }: Stager, tree: StagedTree): Promise<Buffer> =>
  unlocked({ line, tree }, () => {
    const { keeper, runs } = line.layout;
    const argv = ['sh', '-c', SWEEP_AND_LIST, 'sh', keeper, runs, tree.inside, ...skipArgs(tree)];
    const options = { what: 'Ending its programs', answerBytes: LIST_BYTES, timeoutMs: STAGE_MS };
    return patiently(line, () => mustRun(line.place, argv, options));
  });

/** What a tree is compared with, and the list of it now where that is known. */
export type Compared = { readonly before: Uint8Array; readonly now?: Buffer };

/**
 * Makes the tree of this machine what the one in the place is: what changed since `before` is brought, what is gone there
 * goes here. Answers the list to compare with next time; until it is stored, doing it again does the same.
 */
export const stageOut = (stager: Stager, tree: StagedTree, { before, now }: Compared): Promise<Buffer> => {
  // A tree that had to be unlocked is another one: only the first try takes the list for what is there.
  let known = now;
  return unlocked({ line: stager.line, tree }, async () => {
    const list = known ?? (await listInside(stager.line, tree));
    known = undefined;
    return stageOutOnce(stager, tree, { before, list });
  });
};

const stageOutOnce = async (
  { line, trees }: Stager,
  tree: StagedTree,
  { before, list }: { readonly before: Uint8Array; readonly list: Buffer },
): Promise<Buffer> => {
  const entries = within(tree, readListing(list));
  checkSize(tree.inside, entries);
  const { changed, gone } = compareListings(readListing(before), entries);
  if (gone.length > 0) await trees.remove(tree.local, nulList(gone));
  if (changed.length > 0) await patiently(line, async () => trees.unpack(tree.local, await packInside(line, tree, changed)));
  return list;
};
