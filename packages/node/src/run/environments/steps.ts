// What is done to a named environment, one step for each operation. A step may be repeated after a crash; its last
// transaction records what it reached and the next operation, or none.

import { readFile, writeFile } from 'node:fs/promises';
import { OrreryError } from '@orrery/protocol';
import {
  changeNamed,
  namedById,
  recordedEnvironment,
  setupOf,
  setupPending,
  type NamedRow,
  type RecordedEnvironment,
  type SetupRecord,
} from '../../environment/index.ts';
import type { Environment, EnvironmentSpec } from '../../exec/backend.ts';
import { own } from '../../files/own.ts';
import { lookAt } from '../../files/tree-walk.ts';
import type { ConductorParts } from '../doors.ts';
import { settleImage } from './image.ts';
import { endLeftSetup, runSetup, scriptsOf } from './setup.ts';
import { carryMemory, mergeMemory } from '../memory.ts';
import { placePaths, preparedOf, type NamedPrepared } from './place.ts';
import { keepState, keyOf } from './setup-cache.ts';
import { record, type Change, type Step } from './step.ts';

/** `start`: opens it on its backend; a set-up that is still to be done comes next. */
export const start = async (step: Step, row: NamedRow): Promise<void> => {
  const { parts, places } = step;
  const { prepared, spec } = await withImage(step, row);
  const backend = parts.backend(row.backend);
  await backend.preflight(spec.required);
  // A start that failed or was cut off may have left something.
  await closePlace(step, row);
  const tokens = await parts.tokens.mint({
    environmentId: row.id,
    taskId: row.id,
    upstream: null,
    harness: null,
    budgetUsd: null,
    egress: prepared.settings.egress,
  });
  await writeFile(placePaths(parts, row.id).egressToken, tokens.egress, { mode: 0o600 });
  await carryMemory(parts, placePaths(parts, row.id).directory, {
    kinds: prepared.settings.memory,
    projectId: row.project_id,
    harness: prepared.settings.harness,
  });
  const environment = await backend.open(spec);
  places.set(row.id, Promise.resolve(environment));
  parts.atKillPoint('environment-place-opened', 'start');
  // Elsewhere the machine is another one each time, whatever a set-up installed beside checkout and home.
  const onThisMachine = environment.workdir === spec.workdir && environment.home === spec.home;
  const keeps = environment.carriesAgentState && onThisMachine;
  const next = await afterStart(parts, row, { prepared, keeps });
  await record(parts, row.id, { open: 1, wanted: 'running', ...next });
  parts.atKillPoint('environment-started', 'start');
};

type Started = {
  readonly prepared: NamedPrepared;
  readonly spec: EnvironmentSpec;
};

/** What an environment is started with. An image that was built for it is built again when it is gone, and recorded if it is another one. */
const withImage = async (step: Step, row: NamedRow): Promise<Started> => {
  const recorded = recordedEnvironment(row.spec ?? '');
  const before = preparedOf(row);
  if (before === null) throw new Error('an environment that was not made is started');
  const settings = await settleImage(step, row, before);
  if (settings.image === before.settings.image) return { prepared: before, spec: recorded.spec };
  const prepared = { ...before, settings };
  const spec = { ...recorded.spec, image: settings.image };
  await record(step.parts, row.id, {
    prepared: JSON.stringify(prepared),
    spec: JSON.stringify({ ...recorded, spec } satisfies RecordedEnvironment),
    image: settings.image,
  });
  return { prepared, spec };
};

/** Whether the set-up has to run. What it left is only trusted where files and home outlive a stop, and under the same key. */
const afterStart = async (
  parts: ConductorParts,
  row: NamedRow,
  { prepared, keeps }: { readonly prepared: NamedPrepared; readonly keeps: boolean },
): Promise<Change> => {
  const setup = setupOf(row);
  const ready: Change = { operation: null, state: 'ready' };
  if (scriptsOf(parts, row.id, prepared).length === 0) return ready;
  if (setup.state === 'overridden') return ready;
  // Where a project says which folders hold all that a set-up leaves, these come along to every machine.
  const stays = keeps || prepared.settings.cache.length > 0;
  if (setup.state === 'passed' && stays && row.setup_key === (await keyOf(parts, row, prepared))) {
    // One that was taken from elsewhere was not run here at all, and says so.
    const reason = setup.startedAt === null ? setup.reason : 'it was not run again: scripts, lock files and image are the same';
    return { ...ready, setup: JSON.stringify({ ...setup, reason } satisfies SetupRecord) };
  }
  return { operation: 'setup', state: 'setting-up', setup: JSON.stringify(setupPending) };
};

/** `setup`: runs it to its end. One that finds itself begun already was cut off: it failed. */
export const setUp = async (step: Step, row: NamedRow): Promise<void> => {
  const { parts, stopped } = step;
  const prepared = preparedOf(row);
  if (prepared === null) throw new Error('an environment that was not made is set up');
  const environment = await openPlace(step, row);
  if (setupOf(row).state === 'running') {
    await endLeftSetup(row, environment);
    return endSetup(parts, row, { failed: 'the node stopped while it ran; it is not run again by itself', key: null });
  }
  const begun: SetupRecord = { state: 'running', reason: null, startedAt: parts.clock.nowMs(), endedAt: null };
  await record(parts, row.id, { setup: JSON.stringify(begun) });
  parts.atKillPoint('environment-setup-begun', 'setup');
  const egressToken = await readFile(placePaths(parts, row.id).egressToken, 'utf8');
  const begunWith = await keyOf(parts, row, prepared);
  const failed = await runSetup({ parts, row, prepared, environment, egressToken, stopped });
  if (failed === null) {
    await environment.sync();
    await keepState(parts, row, { prepared, key: begunWith });
  }
  const key = failed === null ? await keyOf(parts, row, prepared) : null;
  return endSetup(parts, row, { failed, key, stateKey: begunWith });
};

/** Records how a set-up ended; what a person asked for meanwhile stands. */
const endSetup = async (
  parts: ConductorParts,
  { id }: NamedRow,
  { failed, key, stateKey }: { readonly failed: string | null; readonly key: string | null; readonly stateKey?: string },
): Promise<void> => {
  await parts.store.transaction(async (tx) => {
    const row = await namedById(tx.db, id);
    if (row === null || setupOf(row).state === 'overridden') return;
    const nowMs = parts.clock.nowMs();
    const setup: SetupRecord = {
      state: failed === null ? 'passed' : 'failed',
      reason: failed,
      startedAt: setupOf(row).startedAt,
      endedAt: nowMs,
      stateKey,
    };
    const mine = row.operation === 'setup';
    const outcome: Change =
      failed === null ? { state: 'ready', reason: null } : { state: 'failed', reason: `Its set-up failed. ${failed}` };
    await changeNamed(tx, id, {
      setup: JSON.stringify(setup),
      setup_key: key,
      ...(mine ? { operation: null, ...outcome } : {}),
      nowMs,
    });
  });
  parts.atKillPoint('environment-setup-ended', 'setup');
};

/** `stop`: every program of it ends, files and home stay. */
export const stop = async (step: Step, row: NamedRow): Promise<void> => {
  const { parts } = step;
  const lost = await closePlace(step, row);
  parts.atKillPoint('environment-place-closed', 'stop');
  const said = lost === null ? {} : { reason: lost };
  await record(parts, row.id, { ...said, open: 0, wanted: 'stopped', operation: null, state: 'stopped', ...settledSetup(row) });
  parts.atKillPoint('environment-stopped', 'stop');
};

/** A set-up that a stop cut off has failed. */
const settledSetup = (row: NamedRow): Change =>
  setupOf(row).state === 'running'
    ? { setup: JSON.stringify({ ...setupOf(row), state: 'failed', reason: 'it was stopped' } satisfies SetupRecord) }
    : {};

/** `recreate`: everything of it is saved and given back; then it is made again under the same name. */
export const recreate = async (step: Step, row: NamedRow): Promise<void> => {
  // Whoever wants it anew wants its set-up anew.
  const { stateKey } = setupOf(row);
  if (stateKey !== undefined) await step.parts.workspace.forgetSetup(row.project_id, stateKey);
  await emptyPlace(step, row);
  await record(step.parts, row.id, {
    open: 0,
    prepared: null,
    spec: null,
    setup: JSON.stringify(setupPending),
    setup_key: null,
    operation: 'create',
  });
  step.parts.atKillPoint('environment-emptied', 'recreate');
};

/** `delete`: the same, and it is gone. */
export const remove = async (step: Step, row: NamedRow): Promise<void> => {
  await emptyPlace(step, row);
  const nowMs = step.parts.clock.nowMs();
  await record(step.parts, row.id, { open: 0, operation: null, deleted_at: nowMs });
  step.parts.atKillPoint('environment-emptied', 'delete');
};

const emptyPlace = async (step: Step, row: NamedRow): Promise<void> => {
  const { parts } = step;
  const operation = row.operation ?? '';
  const lost = await closePlace(step, row);
  if (lost !== null) parts.log.warn('environment.lost', { environment: row.id, lost });
  parts.atKillPoint('environment-place-closed', operation);
  const place = await parts.workspace.checkoutOf(row.id);
  if (place !== null)
    await parts.workspace.release(
      place.checkoutId,
      `the environment ${row.name} was ${operation === 'delete' ? 'deleted' : 'made anew'}`,
    );
  parts.atKillPoint('environment-work-saved', operation);
  if (row.spec !== null) await parts.backend(row.backend).discard?.(row.id);
  const { directory } = placePaths(parts, row.id);
  const recorded = row.spec === null ? null : recordedEnvironment(row.spec).directory;
  // One that was made but not recorded yet bears the environment's own id, and nobody was given it.
  const found = recorded ?? (lookAt(directory) === null ? null : own(directory));
  if (found !== null) await parts.removeOwned(found);
  parts.atKillPoint('environment-place-removed', operation);
};

/** The open place of an environment, found again after a restart. Rejects with `not_found` when its backend has it no more. */
export const openPlace = async ({ parts, places }: Pick<Step, 'parts' | 'places'>, row: NamedRow): Promise<Environment> => {
  const known = places.get(row.id);
  if (known !== undefined) return known;
  const finding = parts.backend(row.backend).reopen(recordedEnvironment(row.spec ?? '').spec);
  places.set(row.id, finding);
  try {
    return await finding;
  } catch (thrown) {
    if (places.get(row.id) === finding) places.delete(row.id);
    throw thrown;
  }
};

/** What was noted while it was open, once. */
const keepMemory = async (parts: ConductorParts, row: NamedRow): Promise<void> => {
  const { directory } = placePaths(parts, row.id);
  const notes = await mergeMemory(parts, directory, row.id);
  if (notes.length > 0) parts.log.warn('environment.memory', { environment: row.id, notes: notes.length });
};

/** Ends everything in it, and says what could not be brought back; one that its backend no longer has is closed already. */
const closePlace = async (step: Step, row: NamedRow): Promise<string | null> => {
  let lost: string | null = null;
  if (row.spec !== null) {
    const environment = await openPlace(step, row).catch((thrown: unknown) => {
      if (thrown instanceof OrreryError && thrown.code === 'not_found') return null;
      throw thrown;
    });
    lost = (await environment?.close())?.lost ?? null;
    step.places.delete(row.id);
  }
  await step.parts.tokens.end(row.id);
  await keepMemory(step.parts, row);
  return lost;
};
