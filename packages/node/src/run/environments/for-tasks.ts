// Named environments as tasks work in them: one task at a time, beginning when the environment is ready, and the
// environment stays as the task leaves it.

import { OrreryError } from '@orrery/protocol';
import {
  changeNamed,
  imageAsked,
  namedById,
  runsOfAttempt,
  whyNotReady,
  type EnvironmentConductor,
  type NamedRow,
} from '../../environment/index.ts';
import type { Environment } from '../../exec/backend.ts';
import type { Tx } from '../../store/store.ts';
import type { AttemptContext } from '../attempt-context.ts';
import type { ConductorParts, NamedDoor } from '../doors.ts';
import { preparedOf } from './place.ts';

/** The door through which attempts come. */
export const createNamedDoor = (parts: ConductorParts, conductor: EnvironmentConductor): NamedDoor => ({
  take: async (id, { taskId, signal }) => {
    for (;;) {
      await Promise.race([conductor.settled(id), aborted(signal)]);
      if (signal.aborted) throw new OrreryError('stopped_watching', 'The task is no longer waited for.');
      const row = await parts.store.transaction((tx) => takeOrStart(tx, { id, taskId, nowMs: parts.clock.nowMs() }));
      if (row.task_id === taskId) return takenPlace(row);
      conductor.begin(id);
    }
  },
  open: async (id) => {
    const row = await namedById(parts.store.read, id);
    if (row === null || row.deleted_at !== null) throw gone(id);
    return conductor.open(row);
  },
  giveBack: async (tx, id, taskId) => {
    const row = await namedById(tx.db, id);
    const nowMs = parts.clock.nowMs();
    if (row?.task_id === taskId) await changeNamed(tx, id, { task_id: null, used_at: nowMs, nowMs });
  },
});

const takenPlace: (row: NamedRow) => Awaited<ReturnType<NamedDoor['take']>> = (row) => {
  const prepared = preparedOf(row);
  if (prepared === null) throw gone(row.id);
  const { baseSha, baseName, place, hooks } = prepared;
  // Its set-up ran init.sh, and is not for tasks to run again.
  const own = { backend: row.backend, ...imageAsked(row), branch: row.branch };
  return { ...own, baseSha, baseName, place, hooks: hooks.filter((hook) => hook !== 'init') };
};

/** Takes a ready environment for a task, or has a stopped one started. */
const takeOrStart = async (
  tx: Tx,
  { id, taskId, nowMs }: { readonly id: string; readonly taskId: string; readonly nowMs: number },
): Promise<NamedRow> => {
  const row = await namedById(tx.db, id);
  if (row === null || row.deleted_at !== null) throw gone(id);
  if (row.task_id === taskId || row.operation !== null) return row;
  if (row.task_id !== null)
    throw new OrreryError('busy', `The task ${row.task_id} works in the environment ${row.name}.`, {
      rule: 'A task has its environment for itself.',
      fix: `orrery task wait ${row.task_id}`,
    });
  if (row.state === 'ready') await changeNamed(tx, id, { task_id: taskId, used_at: nowMs, nowMs });
  else if (row.state === 'stopped' && row.prepared !== null)
    await changeNamed(tx, id, { operation: 'start', reason: null, nowMs });
  else throw whyNotReady(row) ?? gone(id);
  return (await namedById(tx.db, id)) ?? row;
};

const gone = (id: string): OrreryError =>
  new OrreryError('not_found', `The environment ${id} was deleted before the task began.`, {
    rule: 'A task works in the environment it was given, and in no other.',
    fix: 'orrery env list',
  });

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** Brings back what was done; a place that is gone is no reason to try for ever: what is missing is said. */
const lostBySync = async (environment: Environment): Promise<string | null> => {
  try {
    await environment.sync();
    return null;
  } catch (thrown) {
    if (thrown instanceof OrreryError && thrown.code === 'keeper_lost') return thrown.message;
    throw thrown;
  }
};

/** An environment as one attempt sees it: under the attempt's own id, and closing it ends what the attempt began and nothing else. */
export const attemptsOwn = (context: AttemptContext, id: string, environment: Environment): Environment => ({
  ...environment,
  id,
  close: async () => {
    for (const run of await runsOfAttempt(context.parts.store.read, context.attempt.id)) {
      const handle = await environment.reattach(run.id);
      if (handle === null) continue;
      await handle.kill();
      await handle.finish();
    }
    // Files on this machine are then those of the environment, wherever that is.
    return { lost: await lostBySync(environment) };
  },
});
