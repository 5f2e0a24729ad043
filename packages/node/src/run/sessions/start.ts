// Begins a session's program, or finds the one that an earlier start of the node began.

import { OrreryError, toOrreryError, type PermissionMode } from '@orrery/protocol';
import type { NamedRow } from '../../environment/index.ts';
import { neverBegan, type Environment, type Handle, type RunSpec } from '../../exec/backend.ts';
import type { Dialogue, DialogueStep } from '../../harness/dialogue.ts';
import type { SessionAdapter } from '../../harness/harness.ts';
import { createMutex } from '../../kernel/mutex.ts';
import {
  changeSession,
  findSessionRun,
  insertFrames,
  insertSessionRun,
  toldOf,
  updateSessionRun,
  type SessionRow,
  type SessionRunRow,
} from '../../session/index.ts';
import { preparedOf } from '../environments/place.ts';
import { refuseOrders } from '../orders.ts';
import { checkpointBefore } from './checkpoints.ts';
import type { Live, SessionConductorParts } from './context.ts';
import { branchOf, launchSpec, settingsOf } from './launch.ts';
import { withRecord } from './prompt.ts';
import { acceptStarted, dispatchFirst, firstInput, restUnasked, type FirstInput } from './per-turn.ts';

/** The part of a session's harness that holds conversations. */
export const adapterOf = (parts: SessionConductorParts, harness: string): SessionAdapter => {
  const { session } = parts.harness(harness);
  if (session !== null) return session;
  throw new OrreryError('unsupported', `The harness ${harness} holds no conversations.`, {
    rule: 'A session needs a program that takes one input after another.',
    fix: 'orrery harness list',
  });
};

/** Nothing of a program starts in a checkout from which it would take orders. */
const refuseInPlace = async (parts: SessionConductorParts, { harness }: SessionRow, row: NamedRow): Promise<void> => {
  const prepared = preparedOf(row);
  if (prepared === null) return;
  await refuseOrders(parts, { harness: parts.harness(harness), projectId: row.project_id, checkout: prepared.place.path });
};

/** What precedes the turn that a process is started for. */
const beforeTurn: typeof checkpointBefore = (parts, environment, given) => {
  parts.forgetFailure(given.session.id);
  return checkpointBefore(parts, environment, given);
};

/**
 * Starts a process. Its row and what it is told first are durable before it may act. Null: what it was to be started for is
 * not there any more.
 */
export const startProgram = async (
  parts: SessionConductorParts,
  session: SessionRow,
  place: { readonly row: NamedRow; readonly environment: Environment },
): Promise<Live | null> => {
  const adapter = adapterOf(parts, session.harness);
  await parts.held();
  await refuseInPlace(parts, session, place.row);
  const first = adapter.perTurn === true ? await firstInput(parts, session) : null;
  if (adapter.perTurn === true && first === null) {
    await restUnasked(parts, session);
    return null;
  }
  if (first !== null) await beforeTurn(parts, place.environment, { session, turn: first.number });
  const settings = await settingsOf(parts, session, place.row);
  const generation = session.generation + 1;
  const runId = `session.${generation}.${parts.ids('run')}`;
  const spec = await launchSpec(parts, {
    session,
    adapter,
    settings,
    runId,
    ...place,
    turnPrompt: first === null ? null : withRecord(first.record, first.text),
  });
  const { dialogue, steps } = beginDialogue(adapter, { session, workdir: place.environment.workdir, first });
  const recorded = await record(parts, {
    session,
    generation,
    runId,
    described: place.environment.describe(spec),
    dialogue,
    steps,
    first,
  });
  if (!recorded) return null;
  const handle = await setGoing(parts, { harness: session.harness, runId, spec, environment: place.environment });
  if (adapter.perTurn === true) await acceptStarted(parts, { sessionId: session.id, generation, runId });
  return liveOf(parts, { session: { ...session, generation }, runId, adapter, dialogue, handle, environment: place.environment });
};

/** What was recorded begins to run. */
const setGoing = async (
  parts: SessionConductorParts,
  given: { readonly harness: string; readonly runId: string; readonly spec: RunSpec; readonly environment: Environment },
): Promise<Handle> => {
  const { harness, runId, spec, environment } = given;
  parts.atKillPoint('session-run-recorded', harness);
  const handle = await environment.start(spec);
  parts.atKillPoint('session-run-launched', harness);
  try {
    await parts.store.transaction((tx) =>
      updateSessionRun(tx.db, runId, { identity: JSON.stringify(handle.identity), state: 'launched' }),
    );
  } catch (thrown) {
    // It never begins: its keeper ends when nobody tells it to go. Whoever has the session now may do so.
    handle.detach();
    throw thrown;
  }
  await handle.go();
  parts.atKillPoint('session-run-going', harness);
  return handle;
};

/** What a new process is told first. One that is started for a turn has its prompt with its start. */
const beginDialogue = (
  adapter: SessionAdapter,
  { session, workdir, first }: { readonly session: SessionRow; readonly workdir: string; readonly first: FirstInput | null },
): { readonly dialogue: Dialogue; readonly steps: readonly DialogueStep[] } => {
  const dialogue = adapter.dialogue({ offset: 0, state: null });
  const { conversation, model, effort } = session;
  const branch = branchOf(session);
  const begun = dialogue.begin({ conversation, branch, workdir, model, effort, mode: session.mode as PermissionMode });
  const told = first === null ? [] : [dialogue.tell({ kind: 'prompt', turn: first.number, text: first.text })];
  return { dialogue, steps: [begun, ...told] };
};

type Recorded = {
  readonly session: SessionRow;
  readonly generation: number;
  readonly runId: string;
  readonly described: string;
  readonly dialogue: Dialogue;
  readonly steps: readonly DialogueStep[];
  readonly first: FirstInput | null;
};

/** False: its input was changed or taken back meanwhile, and nothing is recorded. */
const record = (parts: SessionConductorParts, given: Recorded): Promise<boolean> => {
  const { session, generation, runId, dialogue, first } = given;
  const nowMs = parts.clock.nowMs();
  return parts.store.transaction(async (tx) => {
    if (first !== null && !(await dispatchFirst(tx, { session, first, generation, nowMs }))) return false;
    await insertSessionRun(tx.db, {
      id: runId,
      session_id: session.id,
      generation,
      described: given.described,
      state: 'recorded',
      ready: 0,
      stdout_offset: 0,
      stderr_offset: 0,
      stderr_tail: '',
      dialogue: JSON.stringify(dialogue.position().state),
      started_at: nowMs,
    });
    await changeSession(tx, session.id, { generation, run_id: runId, ...toldOf(session), nowMs });
    await tx.append(
      given.steps
        .flatMap(({ events }) => events)
        .map((body) => ({ taskId: null, sessionId: session.id, turn: first?.number ?? null, body })),
    );
    await insertFrames(
      tx.db,
      given.steps
        .flatMap(({ frames }) => frames)
        .map(({ key, text }) => ({ session_id: session.id, generation, key, text, turn_id: null })),
    );
    return true;
  });
};

/** The process that an earlier start of the node began; null when it never began or is gone without a word. */
export const findProgram = async (
  parts: SessionConductorParts,
  session: SessionRow,
  environment: Environment,
): Promise<{ readonly live: Live | null; readonly run: SessionRunRow } | null> => {
  const run = session.run_id === null ? null : await findSessionRun(parts.store.read, session.run_id);
  if (run === null) return null;
  const handle = await environment.reattach(run.id);
  if (handle === null) return { live: null, run };
  const end = await handle.tryWait().catch(whenLost);
  if (end === 'lost') {
    await handle.finish();
    return { live: null, run };
  }
  if (end !== null && neverBegan(end)) {
    await handle.finish();
    return { live: null, run: { ...run, state: 'recorded' } };
  }
  if (end === null) {
    await parts.store.transaction((tx) =>
      updateSessionRun(tx.db, run.id, { identity: JSON.stringify(handle.identity), state: 'launched' }),
    );
    await handle.go();
  }
  const adapter = adapterOf(parts, session.harness);
  // Its keeper says that it was told to go: it had its prompt.
  if (adapter.perTurn === true)
    await acceptStarted(parts, { sessionId: session.id, generation: session.generation, runId: run.id });
  const dialogue = await dialogueOf(adapter, run, handle);
  return { run, live: liveOf(parts, { session, runId: run.id, adapter, dialogue, handle, environment }) };
};

/** Its keeper is gone without a record of an end: then nobody knows. */
const whenLost = (thrown: unknown): 'lost' => {
  if (toOrreryError(thrown).code === 'keeper_lost') return 'lost';
  throw thrown;
};

/** Where the reading goes on. A program whose stored state this version cannot read is ended: nobody could go on with it. */
const dialogueOf = async (adapter: SessionAdapter, run: SessionRunRow, handle: Live['handle']): Promise<Live['dialogue']> => {
  try {
    return adapter.dialogue({ offset: run.stdout_offset, state: JSON.parse(run.dialogue) });
  } catch (thrown) {
    await handle.kill();
    await handle.finish();
    throw thrown;
  }
};

const liveOf = (
  parts: SessionConductorParts,
  given: { readonly session: SessionRow; readonly runId: string; readonly adapter: SessionAdapter } & Pick<
    Live,
    'dialogue' | 'handle' | 'environment'
  >,
): Live => ({
  sessionId: given.session.id,
  generation: given.session.generation,
  runId: given.runId,
  environment: given.environment,
  handle: given.handle,
  dialogue: given.dialogue,
  program: given.adapter.program,
  perTurn: given.adapter.perTurn === true,
  quietRetries: given.adapter.quietRetries === true,
  turns: createMutex(),
  writes: createMutex(),
  leaving: false,
  ...{ ending: false, unfit: null, stopping: null, failedCall: null, checkpointed: 0, judged: '' },
  quietSince: parts.clock.nowMs(),
});
