// What a finished piece of work may not leave behind, read from the disk, the database and /proc.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { Place } from './place.ts';
import { processesOf, type Seen } from './process-tree.ts';
import { waitFor } from './wait.ts';

/** Everything that is still there. */
export type Leftovers = {
  readonly processes: readonly Seen[];
  readonly keeperDirectories: readonly string[];
  readonly environmentDirectories: readonly string[];
  readonly openEnvironments: number;
  readonly unendedRuns: number;
  readonly openAttempts: number;
  readonly claimedCheckouts: number;
  readonly liveTokens: number;
  readonly queueEntries: number;
};

export const nothing: Leftovers = {
  processes: [],
  keeperDirectories: [],
  environmentDirectories: [],
  openEnvironments: 0,
  unendedRuns: 0,
  openAttempts: 0,
  claimedCheckouts: 0,
  liveTokens: 0,
  queueEntries: 0,
};

const counts = {
  openEnvironments: 'select count(*) as n from environment where closed_at is null',
  unendedRuns: 'select count(*) as n from run where ended_at is null',
  openAttempts: 'select count(*) as n from attempt where ended_at is null',
  claimedCheckouts: "select count(*) as n from checkout where state in ('claimed', 'scrubbing', 'priming', 'removing')",
  liveTokens: 'select count(*) as n from run_token where ended_at is null',
  queueEntries: 'select count(*) as n from queue_entry',
} as const;

/** Packs of borrowed objects are kept for the next environments. */
const KEPT = 'packs';

const names = (path: string): string[] => (existsSync(path) ? readdirSync(path).filter((name) => !name.startsWith('.')) : []);

/** Looks once. `nodePid`: the node that may run. */
export const leftoversOf = (place: Place, nodePid: number): Leftovers => {
  const db = new Database(join(place.data, 'orrery.db'), { readonly: true });
  try {
    const count = (sql: string): number => (db.prepare(sql).get() as { n: number }).n;
    const keeper = join(place.data, 'keeper');
    return {
      processes: processesOf(place.folder, [nodePid]),
      keeperDirectories: names(keeper)
        .filter((backend) => backend !== KEPT)
        .flatMap((backend) => names(join(keeper, backend)).map((name) => `${backend}/${name}`)),
      environmentDirectories: names(join(place.data, 'environments')),
      openEnvironments: count(counts.openEnvironments),
      unendedRuns: count(counts.unendedRuns),
      openAttempts: count(counts.openAttempts),
      claimedCheckouts: count(counts.claimedCheckouts),
      liveTokens: count(counts.liveTokens),
      queueEntries: count(counts.queueEntries),
    };
  } finally {
    db.close();
  }
};

/** What is left once cleaning up had time to end: `nothing`, or what stayed. */
export const settledLeftovers = async (place: Place, nodePid: number, limitMs = 15_000): Promise<Leftovers> => {
  let last = leftoversOf(place, nodePid);
  await waitFor(
    'nothing is left behind',
    () => {
      last = leftoversOf(place, nodePid);
      return JSON.stringify(last) === JSON.stringify(nothing) ? true : null;
    },
    limitMs,
  ).catch(() => undefined);
  return last;
};
