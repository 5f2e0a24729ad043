import { toOrreryError } from '@orrery/protocol';
import {
  changeNamed,
  listNamed,
  measureNamed,
  namedById,
  recordedEnvironment,
  type EnvironmentConductor,
  type NamedRow,
} from '../../environment/index.ts';
import type { Environment } from '../../exec/backend.ts';
import { diskUse } from '../../files/disk-use.ts';
import { DISK_MEASURE_MS, FIND_AGAIN_MS } from '../../kernel/limits.ts';
import { errorFields } from '../../kernel/log.ts';
import type { ConductorParts } from '../doors.ts';
import { reachedLimit } from '../limit-text.ts';
import { placePaths, preparedOf } from './place.ts';
import { make } from './make.ts';
import type { Step } from './step.ts';
import { openPlace, recreate, remove, setUp, start, stop } from './steps.ts';

/** Conducts the operations of named environments, each environment's one after the other. */
export type NamedConductor = EnvironmentConductor & {
  /** After what nobody names was reclaimed: goes on with every operation that a dead node had begun; what no backend has any more is stopped. */
  recover(): Promise<void>;
  /** Measures disk use from now on. */
  watch(): void;
  /** Lets go of everything; what runs, runs on. */
  detach(): Promise<void>;
};

type Conducting = { readonly done: Promise<void>; stop: AbortController; again: boolean; operation: string | null };

const steps: Readonly<Record<string, (step: Step, row: NamedRow) => Promise<void>>> = {
  create: make,
  fork: make,
  start,
  setup: setUp,
  stop,
  recreate,
  delete: remove,
};

export const createNamedConductor = (parts: ConductorParts): NamedConductor => {
  const places = new Map<string, Promise<Environment>>();
  const conducting = new Map<string, Conducting>();
  const finding: Promise<void>[] = [];
  const detached = new AbortController();
  let timer: NodeJS.Timeout | null = null;

  const nextStep = async (id: string): Promise<NamedRow | null> => {
    const row = await namedById(parts.store.read, id);
    return row === null || row.operation === null || row.deleted_at !== null ? null : row;
  };

  const conduct = async (id: string, mine: Conducting): Promise<void> => {
    for (;;) {
      mine.again = false;
      for (let row = await nextStep(id); row !== null && !detached.signal.aborted; row = await nextStep(id)) {
        mine.stop = new AbortController();
        mine.operation = row.operation;
        const stopped = AbortSignal.any([mine.stop.signal, detached.signal]);
        await takeStep({ parts, places, stopped }, row, detached.signal);
      }
      if (mine.again && !detached.signal.aborted) continue;
      // In the same turn as the look at `again`: nobody can ask in between.
      conducting.delete(id);
      return;
    }
  };

  const left = (id: string, thrown: unknown): void =>
    parts.log.error('environment.left', { environment: id, ...errorFields(thrown) });

  const begin = (id: string): void => {
    const before = conducting.get(id);
    if (before !== undefined) {
      before.again = true;
      giveWay(id, before);
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const mine: Conducting = { done: promise, stop: new AbortController(), again: false, operation: null };
    conducting.set(id, mine);
    conduct(id, mine)
      .catch((thrown: unknown) => left(id, thrown))
      .finally(() => {
        if (conducting.get(id) === mine) conducting.delete(id);
        resolve();
      });
  };

  /** A set-up and a build end when something else is wanted; everything else is short and goes to its end. */
  const giveWay = (id: string, running: Conducting): void => {
    const { operation, stop: current } = running;
    namedById(parts.store.read, id)
      .then((row) => {
        if (row?.operation !== operation) current.abort();
      })
      .catch((thrown: unknown) => left(id, thrown));
  };

  const measureAll = async (): Promise<void> => {
    for (const row of await listNamed(parts.store.read)) {
      if (row.open === 0) continue;
      await measure({ parts, places }, row, begin).catch((thrown: unknown) =>
        parts.log.warn('environment.unmeasured', { environment: row.id, ...errorFields(thrown) }),
      );
    }
  };

  return {
    begin,
    settled: async (id) => {
      for (let one = conducting.get(id); one !== undefined && !detached.signal.aborted; one = conducting.get(id)) await one.done;
    },
    open: (row) => openPlace({ parts, places }, row),
    recover: async () => {
      for (const row of await listNamed(parts.store.read)) {
        if (row.operation !== null) begin(row.id);
        else if (row.open === 1) finding.push(findAgain({ parts, places }, row).catch((thrown: unknown) => left(row.id, thrown)));
      }
      // One that is out of reach is waited for, and the start does not wait with it.
      const found = new AbortController();
      const all = Promise.all(finding).finally(() => found.abort());
      await Promise.race([all, parts.clock.sleep(FIND_AGAIN_MS, found.signal).catch(() => undefined)]);
    },
    watch: () => {
      timer = setInterval(
        () => void measureAll().catch((thrown: unknown) => parts.log.warn('environment.measure.failed', errorFields(thrown))),
        DISK_MEASURE_MS,
      );
      timer.unref();
    },
    detach: async () => {
      detached.abort();
      if (timer !== null) clearInterval(timer);
      await Promise.all([...conducting.values().map(({ done }) => done), ...finding]);
    },
  };
};

/** One step; what it fails of is recorded, and nothing more is done to it until a person asks. */
const takeStep = async (step: Step, row: NamedRow, detached: AbortSignal): Promise<void> => {
  const { parts } = step;
  try {
    await steps[row.operation ?? '']?.(step, row);
    const after = await namedById(parts.store.read, row.id);
    if (after !== null && after.operation === null && after.deleted_at === null) await measure(step, after, () => undefined);
  } catch (thrown) {
    if (detached.aborted) throw thrown;
    const error = toOrreryError(thrown);
    parts.log.warn('environment.failed', { environment: row.id, operation: row.operation, ...errorFields(thrown) });
    await parts.store.transaction(async (tx) => {
      const now = await namedById(tx.db, row.id);
      if (now === null || now.operation !== row.operation) return;
      const reason = error.toLines().join(' ');
      await changeNamed(tx, row.id, { operation: null, state: 'failed', reason, nowMs: parts.clock.nowMs() });
    });
  }
};

/** A place that was open when the node ended: found again, or gone. When that cannot be told, it stays as it is recorded. */
const findAgain = async (step: Pick<Step, 'parts' | 'places'>, row: NamedRow): Promise<void> => {
  const { parts } = step;
  try {
    await openPlace(step, row);
  } catch (thrown) {
    if (toOrreryError(thrown).code !== 'not_found') {
      parts.log.warn('environment.unreachable', { environment: row.id, ...errorFields(thrown) });
      return;
    }
    await parts.tokens.end(row.id);
    const reason = 'Its place was gone when the node started again; its files are there.';
    await parts.store.transaction(async (tx) => {
      const now = await namedById(tx.db, row.id);
      if (now === null || now.open === 0 || now.operation !== null) return;
      await changeNamed(tx, row.id, { open: 0, state: 'stopped', reason, nowMs: parts.clock.nowMs() });
    });
  }
};

/** What it takes where its files lie elsewhere while it is open; 0 where they lie here, or that cannot be told. */
const usedElsewhere = async ({ parts, places }: Pick<Step, 'parts' | 'places'>, row: NamedRow): Promise<number> => {
  // One that is still being found is not waited for.
  const open = row.open === 1 ? places.get(row.id) : undefined;
  const place = await Promise.race([open ?? Promise.resolve(undefined), Promise.resolve(undefined)]).catch(() => undefined);
  if (place === undefined || place.workdir === recordedEnvironment(row.spec ?? '').spec.workdir) return 0;
  const { diskBytes } = await place.stats().catch((thrown: unknown) => {
    parts.log.warn('environment.unmeasured', { environment: row.id, ...errorFields(thrown) });
    return { diskBytes: null };
  });
  return diskBytes ?? 0;
};

/** Records how much disk an environment takes; one that passed its limit is stopped. */
const measure = async (step: Pick<Step, 'parts' | 'places'>, row: NamedRow, begin: (id: string) => void): Promise<void> => {
  const { parts } = step;
  const settings = preparedOf(row)?.settings;
  if (settings === undefined || row.spec === null) return;
  const here = (await diskUse(recordedEnvironment(row.spec).spec.workdir)) + (await diskUse(placePaths(parts, row.id).home));
  const bytes = Math.max(here, await usedElsewhere(step, row));
  const nowMs = parts.clock.nowMs();
  const over = settings.diskBytes !== null && bytes > settings.diskBytes;
  const stops = await parts.store.transaction(async (tx) => {
    await measureNamed(tx.db, row.id, { bytes, nowMs });
    const now = await namedById(tx.db, row.id);
    if (!over || now === null || now.open === 0 || now.operation !== null) return false;
    await changeNamed(tx, row.id, { operation: 'stop', reason: `It ${reachedLimit('disk').text}`, nowMs });
    return true;
  });
  if (stops) begin(row.id);
};
