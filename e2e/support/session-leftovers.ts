// What there is of sessions, so that a test can say that nothing of one is left.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect } from 'vitest';
import type { Ground } from './crash-rows.ts';
import { leftoversOf, type Leftovers } from './leftovers.ts';
import type { Place } from './place.ts';
import { waitFor } from './wait.ts';

const names = (path: string): string[] => (existsSync(path) ? readdirSync(path) : []);

/** Refs of checkpoints in the mirrors that no row names. */
const unnamedRefs = ({ data }: Place): string[] => {
  const db = new Database(join(data, 'orrery.db'), { readonly: true });
  try {
    const named = new Set(db.prepare('select ref from session_checkpoint').pluck().all());
    const mirrors = names(join(data, 'mirrors')).map((name) => join(data, 'mirrors', name));
    const all = mirrors.flatMap((mirror) =>
      execFileSync('git', ['-C', mirror, 'for-each-ref', '--format=%(refname)', 'refs/orrery/checkpoints/'])
        .toString()
        .split('\n'),
    );
    return all.filter((ref) => ref !== '' && !named.has(ref));
  } finally {
    db.close();
  }
};

/** What there is of sessions and their places, as numbers. */
export type There = Omit<{ readonly [What in keyof Leftovers]: number }, 'queueEntries'> & {
  readonly sessions: number;
  readonly environments: number;
  /** Refs of checkpoints that no row names. */
  readonly unnamedRefs: readonly string[];
  readonly conversations: readonly string[];
};

/** Looks once. */
export const thereIs = async (ground: Ground): Promise<There> => {
  const {
    processes,
    keeperDirectories,
    environmentDirectories,
    queueEntries: _,
    ...counts
  } = leftoversOf(ground.place, ground.life().pid);
  return {
    ...counts,
    processes: processes.length,
    keeperDirectories: keeperDirectories.length,
    environmentDirectories: environmentDirectories.length,
    sessions: (await ground.client().call('sessionList', { query: {} })).items.filter(({ endedAt }) => endedAt === null).length,
    environments: (await ground.client().call('environmentList', { query: {} })).items.length,
    unnamedRefs: unnamedRefs(ground.place),
    conversations: names(join(ground.place.data, 'conversations')),
  };
};

/** Nothing more is there than before; cleaning up takes its time. */
export const isAsBefore = async (ground: Ground, before: There): Promise<void> => {
  let now = before;
  await waitFor(
    'nothing of the fork to be left',
    async () => {
      now = await thereIs(ground);
      return JSON.stringify(now) === JSON.stringify(before) ? true : null;
    },
    15_000,
  ).catch(() => undefined);
  expect(now).toEqual(before);
};
