import { OrreryError, type EventBody, type StageName } from '@orrery/protocol';
import { neverBegan, type Environment, type Handle, type RunEnd } from '../exec/backend.ts';
import type { OutputStream } from '../keeper/types.ts';
import { findRun, insertRun, updateRun, type OpenScreen, type RunRow } from '../environment/index.ts';
import type { Speech } from '../harness/harness.ts';
import { OUTPUT_TAKEN_BYTES, SCREEN_END_MS } from '../kernel/limits.ts';
import { createMutex, type Mutex } from '../kernel/mutex.ts';
import { updateAttempt } from '../task/index.ts';
import { writeWaiting } from './waiting.ts';
import { checkGoing, taskEvent, type AttemptContext } from './attempt-context.ts';
import { Detached } from './ending.ts';
import { joinedOutput } from './joined-output.ts';
import { createSpeaker, type Speaker } from './speak.ts';
import { watchSignals } from './stop.ts';

/** What taking in bytes of one stream gave. `offset` is where parsing may restart; it lies at or before what was taken in. */
export type Taken = {
  readonly bodies: readonly EventBody[];
  readonly offset: number;
  readonly conversation: string | null;
  /** The program took its input. */
  readonly accepted: boolean;
  /** The program has no more to say to this input: stdin may be closed. */
  readonly settled: boolean;
  /** What the task waits for from now on; null: it does not. Absent: as before. */
  readonly waitingFor?: string | null;
};

/** Makes events of a program's output. Its state is stored with the offsets, so that a restarted node goes on exactly there. */
export type Consumer<Outcome> = {
  /** Absent: the program is told nothing but its input. */
  readonly speech?: Speech;
  push(stream: OutputStream, bytes: Uint8Array): Taken;
  state(): unknown;
  /** The program ended: the last events, and what the stage needs to know. */
  end(end: RunEnd): { readonly bodies: readonly EventBody[]; readonly outcome: Outcome };
};

/** A position to go on from. */
export type ConsumerStart = { readonly stdout: number; readonly stderr: number; readonly state: unknown };

/** One program of a stage. */
export type ProgramPlan<Outcome> = {
  readonly stage: StageName;
  readonly round: number;
  describe(runId: string): string;
  start(runId: string): Promise<Handle>;
  readonly input: Uint8Array | null;
  readonly closeInput: 'after-input' | 'when-settled';
  /** State that the consumer of a new program begins with, stored before the program may act. Absent: null. */
  readonly begins?: unknown;
  /** Events that belong to the moment of the start, for example the prompt. */
  readonly opening: readonly EventBody[];
  /** The same, for each program that is started: also for one that takes the place of one that never began. */
  announce?(runId: string): readonly EventBody[];
  consumer(from: ConsumerStart): Consumer<Outcome>;
  /** Of a program with a full screen: lets people look. Its output is kept for them and given up by who shows it. */
  show?(running: { readonly row: RunRow; readonly handle: Handle; needed(): number }): Promise<OpenScreen>;
};

export type ProgramEnd<Outcome> = { readonly end: RunEnd; readonly outcome: Outcome };

type Running<Outcome> = {
  readonly context: AttemptContext;
  readonly plan: ProgramPlan<Outcome>;
  readonly row: RunRow;
  readonly handle: Handle;
  readonly consumer: Consumer<Outcome>;
  readonly speaker: Speaker;
  /** The streams take turns: the stored state must hold exactly what the stored offsets say. */
  readonly turns: Mutex;
};

/**
 * Runs one program of a stage to its end, or goes on watching one that an earlier start of the node began. Its identity is
 * stored before it may act; its input is written at most once; offsets and the events parsed up to them are committed
 * together. Rejects with `keeper_lost` when the program's keeper is gone without a record of the end.
 */
export const conductProgram = async <Outcome>(
  context: AttemptContext,
  environment: Environment,
  plan: ProgramPlan<Outcome>,
): Promise<ProgramEnd<Outcome>> => {
  const before = await findRun(context.parts.store.read, { attemptId: context.attempt.id, stage: plan.stage, round: plan.round });
  if (before?.end != null) return JSON.parse(before.end) as ProgramEnd<Outcome>;
  const resumed = before === null ? null : await resume(context, environment, before);
  context.known();
  const { row, handle } = resumed ?? (await launch(context, environment, before === null ? plan : { ...plan, opening: [] }));
  const consumer = plan.consumer({ stdout: row.stdout_offset, stderr: row.stderr_offset, state: JSON.parse(row.translator) });
  const speaker = createSpeaker({ context, handle, stage: plan.stage, speech: consumer.speech });
  const running = { context, plan, row, handle, consumer, speaker, turns: createMutex() };
  const unwatch = watchSignals(context, handle);
  let screen: OpenScreen | null = null;
  try {
    const at = { committed: row.stdout_offset };
    screen = (await plan.show?.({ row, handle, needed: () => at.committed })) ?? null;
    begin(running);
    const end = await Promise.race([followToEnd(running, at), speaker.failed]);
    await untilShown(context, screen);
    return record(running, end);
  } catch (thrown) {
    handle.detach();
    if (context.detached.aborted) throw new Detached();
    throw thrown;
  } finally {
    screen?.close();
    unwatch();
    speaker.over();
  }
};

/** What was to be said, or was over, when an earlier start of the node died. */
const begin = <Outcome>({ plan, consumer, speaker }: Running<Outcome>): void => {
  if (isSettled(plan, consumer)) speaker.close();
  else speaker.say();
};

/** Whether the turn is over as far as the program says, by what is stored. */
const isSettled = <Outcome>({ closeInput }: ProgramPlan<Outcome>, consumer: Consumer<Outcome>): boolean =>
  closeInput === 'when-settled' && consumer.push('stdout', new Uint8Array(0)).settled;

const followToEnd = async <Outcome>(running: Running<Outcome>, at: { committed: number }): Promise<RunEnd> => {
  await Promise.all([
    feed(running),
    pump(running, 'stdout', (offset) => {
      at.committed = offset;
    }),
    pump(running, 'stderr'),
  ]);
  if (running.context.detached.aborted) throw new Detached();
  return running.handle.wait();
};

/** Whoever looks is shown the end before it is cleared away; nobody can hold it up for long. */
const untilShown = async ({ parts, detached }: AttemptContext, screen: OpenScreen | null): Promise<void> => {
  if (screen === null) return;
  const stop = new AbortController();
  const late = parts.clock.sleep(SCREEN_END_MS, AbortSignal.any([stop.signal, detached])).catch(() => undefined);
  await Promise.race([screen.shown(), late]);
  stop.abort();
};

const launch = async <Outcome>(
  context: AttemptContext,
  environment: Environment,
  plan: ProgramPlan<Outcome>,
): Promise<{ row: RunRow; handle: Handle }> => {
  checkGoing(context);
  const { clock, atKillPoint, ids } = context.parts;
  const id = `${plan.stage}.${plan.round}.${ids('run')}`;
  const row: RunRow = {
    id,
    environment_id: environment.id,
    attempt_id: context.attempt.id,
    stage: plan.stage,
    round: plan.round,
    described: plan.describe(id),
    identity: null,
    state: 'recorded',
    stdout_offset: 0,
    stderr_offset: 0,
    translator: JSON.stringify(plan.begins ?? null),
    accepted: 0,
    end: null,
    started_at: clock.nowMs(),
    ended_at: null,
  };
  await context.journal.transaction(async (tx) => {
    await insertRun(tx.db, row);
    const bodies = [...plan.opening, ...(plan.announce?.(id) ?? [])];
    await tx.append(bodies.map((body) => taskEvent(context, plan.round, body)));
  });
  atKillPoint('run-recorded', plan.stage);
  const handle = await plan.start(id);
  atKillPoint('run-launched', plan.stage);
  await storeIdentity(context, id, handle);
  atKillPoint('run-identity-stored', plan.stage);
  await handle.go();
  atKillPoint('run-going', plan.stage);
  return { row, handle };
};

const storeIdentity = (context: AttemptContext, id: string, handle: Handle): Promise<void> =>
  context.parts.store.transaction((tx) => updateRun(tx.db, id, { identity: JSON.stringify(handle.identity), state: 'launched' }));

/** The run an earlier start of the node began, or null when it never began and may be started again. */
const resume = async (
  context: AttemptContext,
  environment: Environment,
  row: RunRow,
): Promise<{ row: RunRow; handle: Handle } | null> => {
  const handle = await environment.reattach(row.id);
  if (handle === null) {
    if (row.state === 'recorded') return null;
    throw new OrreryError('keeper_lost', `The program of stage ${row.stage} is gone and left no record of its end.`, {
      rule: 'What is not known is not guessed: the task is interrupted and yours to decide.',
      fix: `orrery task retry ${context.task.id}`,
    });
  }
  const end = await handle.tryWait();
  if (end !== null && neverBegan(end)) {
    await handle.finish();
    return null;
  }
  if (row.identity === null) await storeIdentity(context, row.id, handle);
  if (end === null) await handle.go();
  return { row, handle };
};

/** Writes the input at most once. A program that ended before it took all of it tells so by its own end. */
const feed = async <Outcome>({ plan, row, handle, context }: Running<Outcome>): Promise<void> => {
  if (plan.input === null) return;
  try {
    const state = await handle.write(row.id, plan.input);
    context.parts.atKillPoint('input-written', plan.stage);
    if (state.state === 'written' && plan.closeInput === 'after-input') await handle.closeInput();
  } catch (thrown) {
    if (thrown instanceof OrreryError && (thrown.code === 'conflict' || thrown.code === 'unsupported')) return;
    throw thrown;
  }
};

const pump = async <Outcome>(
  running: Running<Outcome>,
  stream: OutputStream,
  onCommitted: (offset: number) => void = () => undefined,
): Promise<void> => {
  const { context, plan, row, handle } = running;
  let committed = row[offsetColumn[stream]];
  for await (const chunk of joinedOutput(handle.output(stream, committed), OUTPUT_TAKEN_BYTES)) {
    const taken = await running.turns.run('', () => takeIn(running, stream, { bytes: chunk.bytes, committed }));
    if (taken.offset > committed) {
      committed = taken.offset;
      onCommitted(committed);
      context.parts.atKillPoint('output-committed', plan.stage);
      if (plan.show === undefined) await handle.release(stream, committed);
    }
    if (taken.settled && plan.closeInput === 'when-settled') running.speaker.close();
  }
};

const offsetColumn = { stdout: 'stdout_offset', stderr: 'stderr_offset' } as const;

/** Parses a piece and commits what it gave together with the new offset. */
const takeIn = async <Outcome>(
  { context, plan, row, consumer, speaker }: Running<Outcome>,
  stream: OutputStream,
  piece: { readonly bytes: Uint8Array; readonly committed: number },
): Promise<Taken> => {
  const taken = consumer.push(stream, piece.bytes);
  if (taken.bodies.length === 0 && taken.offset <= piece.committed) return taken;
  const change = {
    [offsetColumn[stream]]: taken.offset,
    translator: JSON.stringify(consumer.state()),
    ...(taken.accepted ? { accepted: 1 } : {}),
  };
  await context.parts.store.transaction(async (tx) => {
    await updateRun(tx.db, row.id, change);
    await tx.append(taken.bodies.map((body) => taskEvent(context, plan.round, body)));
    if (taken.waitingFor !== undefined) await writeWaiting(tx, context, taken.waitingFor);
    if (taken.conversation !== null) await updateAttempt(tx.db, context.attempt.id, { conversation: taken.conversation });
  });
  speaker.say();
  return taken;
};

/**
 * Notes the end. It is durable with the end of the stage, and only then the keeper, whose record of it would tell another
 * start the same, is let go.
 */
const record = <Outcome>({ context, plan, row, handle, consumer }: Running<Outcome>, ended: RunEnd): ProgramEnd<Outcome> => {
  const { clock, atKillPoint } = context.parts;
  atKillPoint('run-ended', plan.stage);
  // One that had nothing more to say, and was ended for staying, was not interrupted.
  const end = ended.reason === 'killed' && isSettled(plan, consumer) ? { ...ended, reason: null } : ended;
  const last = consumer.end(end);
  const result: ProgramEnd<Outcome> = { end, outcome: last.outcome };
  const change = { state: 'ended', end: JSON.stringify(result), ended_at: clock.nowMs() };
  context.journal.later(async (tx) => {
    await updateRun(tx.db, row.id, change);
    await tx.append(last.bodies.map((body) => taskEvent(context, plan.round, body)));
  });
  context.journal.onceDurable(async () => {
    atKillPoint('end-recorded', plan.stage);
    await handle.finish();
    atKillPoint('run-finished', plan.stage);
  });
  return result;
};
