// Places that a dead node left and no task names. Nobody is there to take their work back, so it is kept as it lies: what
// was done in a place since it was last carried back goes into an archive before the place is removed.
//   <state>/salvage/<environment id>.tar
import { createWriteStream } from 'node:fs';
import { mkdir, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { syncDirectory } from '../../kernel/durable-file.ts';
import { mustRun } from './command.ts';
import { layoutOf } from './layout.ts';
import { compareListings, EMPTY_LIST, readListing } from './listing.ts';
import { patiently } from './patience.ts';
import type { Line } from './patience.ts';
import type { Pruning } from '../backend.ts';
import type { Place, PlaceProvider } from './place.ts';
import { placeDirectory, recordedPlaces } from './record.ts';
import type { PlaceDirectory, PlaceRecord } from './record.ts';
import type { RemoteSettings } from './settings.ts';
import { listInside, packInside, workTree } from './staging.ts';

/** What reclaiming works with. */
export type Reclaiming = Pick<RemoteSettings, 'clock' | 'patienceMs'> & {
  readonly provider: PlaceProvider;
  /** The backend's own directory, and where archives go. */
  readonly parent: string;
  readonly salvage: string;
};

/** Writes an archive so that it is there whole or not at all. */
const keepArchive = async (directory: string, id: string, archive: NodeJS.ReadableStream): Promise<void> => {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, `${id}.tar`);
  await pipeline(archive, createWriteStream(`${file}.new`, { mode: 0o600 }));
  const handle = await open(`${file}.new`, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(`${file}.new`, file);
  await syncDirectory(directory);
};

/** Keeps what was done in a place and never carried back. A place that sees this machine's own trees has nothing of the kind. */
const salvageWork = async ({ salvage }: Reclaiming, line: Line, { record, directory }: Dead): Promise<void> => {
  const tree = workTree(line.layout);
  if (!record.dirty || !record.pairs.some(({ inside }) => inside === tree.inside)) return;
  const before = readListing((await directory.readList(tree.name)) ?? EMPTY_LIST);
  const { changed } = compareListings(before, readListing(await listInside(line, tree)));
  if (changed.length === 0) return;
  await patiently(line, async () => keepArchive(salvage, record.id, await packInside(line, tree, changed)));
};

type Dead = { readonly record: PlaceRecord; readonly directory: PlaceDirectory };

const settlePlace = async (reclaiming: Reclaiming, place: Place, dead: Dead): Promise<void> => {
  const { clock, patienceMs } = reclaiming;
  const line: Line = { place, layout: layoutOf(place), clock, patienceMs, over: new AbortController().signal };
  const { keeper, runs } = line.layout;
  await patiently(line, () => mustRun(place, [keeper, 'sweep', runs], { what: 'Ending its programs' }));
  await salvageWork(reclaiming, line, dead);
  place.detach();
};

/** Answers whether there was anything but what is remembered of a place that is gone. */
const settleDead = async (reclaiming: Reclaiming, id: string): Promise<boolean> => {
  const { provider, parent } = reclaiming;
  const directory = placeDirectory(parent, id);
  const record = await directory.read();
  if (record?.ref != null && record.step === 'open') {
    const place = (await provider.find(id, record.ref)) ?? (await provider.revive?.(id, record.ref)) ?? null;
    if (place !== null) await settlePlace(reclaiming, place, { record, directory });
  }
  await provider.sweep(id);
  await directory.remove();
  return record?.step !== 'removed';
};

/**
 * Ends and removes every place of this node that `live` does not name, with its work kept. Answers which. Rejects when
 * nobody can tell what is there; a node that never opened a place asks nobody.
 */
export const reclaimPlaces = async (reclaiming: Reclaiming, live: readonly string[]): Promise<string[]> => {
  const recorded = await recordedPlaces(reclaiming.parent);
  if (recorded.length === 0) return [];
  const there = await reclaiming.provider.list();
  return settleAll(
    reclaiming,
    [...new Set([...there, ...recorded])].filter((id) => !live.includes(id)),
  );
};

/** The same for a node that knows of none any more, as after its data was lost: whoever has this node's name on it is asked for. */
export const prunePlaces = async (reclaiming: Reclaiming, { live, known, dryRun }: Pruning): Promise<string[]> => {
  const { provider, parent } = reclaiming;
  const found = [...new Set([...(await provider.list()), ...(await recordedPlaces(parent))])];
  const named = await live();
  const dead = found.filter((id) => !named.includes(id));
  const settled = dryRun ? dead : await settleAll(reclaiming, dead);
  const kept = (await provider.prune?.({ known: await known(), dryRun })) ?? [];
  if (!dryRun) await provider.clear?.();
  return [...new Set([...settled, ...kept])];
};

const settleAll = async (reclaiming: Reclaiming, dead: readonly string[]): Promise<string[]> => {
  const results = await Promise.allSettled(dead.map((id) => settleDead(reclaiming, id)));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return dead.filter((_, index) => results[index]?.status === 'fulfilled' && results[index].value);
};
