import type { StageName, TaskIntent } from '@orrery/protocol';
import type { Environment } from '../exec/backend.ts';
import type { NewEvent, Tx } from '../store/store.ts';
import {
  type AttemptRow,
  type StageKey,
  type StageRow,
  type TaskRow,
  findStage,
  insertStage,
  updateAttempt,
  updateStage,
  type Ending,
} from '../task/index.ts';
import type { AttemptSettings, HookName, RunParts, WorkPlace } from './doors.ts';
import { AttemptEnded, cancelledEnding, Detached } from './ending.ts';
import type { Journal } from './journal.ts';

/** Where a continuation begins. Stored with the attempt. */
export type Continued = {
  readonly taskId: string;
  /** The program's own id of the conversation; null: in a series, where a new one begins. */
  readonly conversation: string | null;
  /** What is gone on with, in words. */
  readonly from: string;
};

/** What `prepare` found out; stored with the attempt, so that another start of the node goes on from here. */
export type Prepared = {
  readonly baseSha: string | null;
  readonly baseName: string | null;
  readonly branch: string;
  readonly place: WorkPlace;
  readonly hooks: readonly HookName[];
  readonly settings: AttemptSettings;
  /** The commit whose hooks and settings hold; absent: the base. */
  readonly rulesSha?: string;
  /** What it continues; absent: it begins a conversation. */
  readonly continued?: Continued;
  /** What `init.sh` leaves is kept for others under this key; `reused`: it is there already, of an earlier one. */
  readonly setup?: { readonly key: string; readonly reused: boolean };
  /** The environment of its own that the task works in; absent: one made for the attempt. */
  readonly named?: string;
};

/** Everything one attempt is conducted with. */
export type AttemptContext = {
  readonly parts: RunParts;
  readonly journal: Journal;
  readonly task: TaskRow;
  readonly intent: TaskIntent;
  readonly attempt: AttemptRow;
  /** Aborted by a cancel. */
  readonly cancelled: AbortSignal;
  /** Aborted when the node stops and programs run on. */
  readonly detached: AbortSignal;
  /** What the attempt made could not be collected again and again: it ends, and its place is left as it is. */
  readonly keepPlace?: boolean;
  /** Called once it is known what the attempt's program is doing (after a restart). */
  readonly known: () => void;
};

/** An attempt whose environment is open. */
export type OpenAttempt = AttemptContext & {
  readonly prepared: Prepared;
  readonly environment: Environment;
  readonly egressToken: string;
  readonly runTokenFile: string;
  /** For questions that the node itself asks the model. */
  readonly runToken: string;
};

/** Throws when the attempt shall not go on. */
export const checkGoing = (context: AttemptContext): void => {
  if (context.detached.aborted) throw new Detached();
  if (context.cancelled.aborted) throw new AttemptEnded(cancelledEnding);
};

/** Milliseconds left of the attempt's wall time; counted from its start, across restarts of the node. */
export const remainingMs = (context: AttemptContext, settings: AttemptSettings): number => {
  const left = context.attempt.started_at + settings.wallMs - context.parts.clock.nowMs();
  if (left > 0) return left;
  throw new AttemptEnded({ verdict: 'failed', cause: 'timeout', reason: `The attempt used up its ${settings.wallMs} ms.` });
};

/** How a stage ended. */
export type StageEnd = {
  readonly state: 'passed' | 'failed' | 'skipped' | 'timeout' | 'interrupted';
  readonly exitCode: number | null;
  readonly note: string | null;
  readonly output: string | null;
};

export const passed: StageEnd = { state: 'passed', exitCode: null, note: null, output: null };

const stageKey = (context: AttemptContext, name: StageName, round: number): StageKey => ({
  attemptId: context.attempt.id,
  name,
  round,
});

/** The record of a stage, or null. */
export const stageOf = (context: AttemptContext, name: StageName, round: number): Promise<StageRow | null> =>
  findStage(context.parts.store.read, stageKey(context, name, round));

/**
 * Notes that a stage begins, once: a stage that was running when the node died is still the same stage. It is durable with
 * what the attempt writes next, before anything of the stage can act.
 */
export const beginStage = async (context: AttemptContext, name: StageName, round: number): Promise<StageRow> => {
  const there = await stageOf(context, name, round);
  if (there !== null) return there;
  const row = newStage(context.attempt, { name, round, nowMs: context.parts.clock.nowMs() });
  context.journal.later((tx) => writeStageBegin(tx, context.attempt, row));
  return row;
};

const newStage = (
  attempt: AttemptRow,
  { name, round, nowMs }: { readonly name: StageName; readonly round: number; readonly nowMs: number },
): StageRow => ({
  attempt_id: attempt.id,
  name,
  round,
  state: 'running',
  run_id: null,
  exit_code: null,
  note: null,
  output: null,
  started_at: nowMs,
  ended_at: null,
});

const writeStageBegin = async (tx: Tx, { task_id, number }: AttemptRow, row: StageRow): Promise<void> => {
  await insertStage(tx.db, row);
  const body = { kind: 'stage.started', attempt: number, stage: row.name as StageName, round: row.round } as const;
  await tx.append([{ taskId: task_id, turn: null, body }]);
};

/** Records the first stage of a new attempt in the transaction that records the attempt. */
export const writeFirstStage = (tx: Tx, attempt: AttemptRow): Promise<void> =>
  writeStageBegin(tx, attempt, newStage(attempt, { name: 'prepare', round: 1, nowMs: attempt.started_at }));

/** Notes how a stage ended, once, and `also` with it; durable with what the attempt writes next. */
export const endStage = (
  context: AttemptContext,
  row: StageRow,
  { also = async () => undefined, ...end }: StageEnd & { readonly also?: (tx: Tx) => Promise<void> },
): void => {
  if (row.ended_at !== null) return;
  const nowMs = context.parts.clock.nowMs();
  context.journal.later(async (tx) => {
    await also(tx);
    await writeStageEnd(tx, context, { row, end, nowMs });
  });
};

const writeStageEnd = async (
  tx: Tx,
  context: AttemptContext,
  { row, end, nowMs }: { readonly row: StageRow; readonly end: StageEnd; readonly nowMs: number },
): Promise<void> => {
  const name = row.name as StageName;
  const { state, exitCode, note, output } = end;
  await updateStage(tx.db, stageKey(context, name, row.round), { state, exit_code: exitCode, note, output, ended_at: nowMs });
  await tx.append([
    taskEvent(context, null, {
      kind: 'stage.ended',
      attempt: context.attempt.number,
      stage: name,
      round: row.round,
      state,
      exitCode,
      note,
      tookMs: Math.max(0, nowMs - row.started_at),
    }),
  ]);
};

/** An event of the attempt's task. */
export const taskEvent = (context: AttemptContext, turn: number | null, body: NewEvent['body']): NewEvent => ({
  taskId: context.task.id,
  turn,
  body,
});

/** What an attempt has reached, stored so that another start of the node goes on from here. */
type Progress = { readonly prepared?: Prepared; readonly ending?: Ending };

const progressOf = (context: AttemptContext): Progress => JSON.parse(context.attempt.progress) as Progress;

/** Stores what `prepare` found. */
export const savePrepared = (tx: Tx, context: AttemptContext, prepared: Prepared): Promise<void> =>
  updateAttempt(tx.db, context.attempt.id, { progress: JSON.stringify({ prepared } satisfies Progress) });

/** What an earlier start of the node prepared, or null. */
export const loadPrepared = (context: AttemptContext): Prepared | null => progressOf(context).prepared ?? null;

/** Stores how the attempt ends, before anything of it is given back: from then on nothing of it runs again. */
export const saveEnding = (
  tx: Tx,
  context: AttemptContext,
  { prepared, ending }: { readonly prepared: Prepared | null; readonly ending: Ending },
): Promise<void> =>
  updateAttempt(tx.db, context.attempt.id, {
    progress: JSON.stringify({ ...(prepared === null ? {} : { prepared }), ending } satisfies Progress),
  });

/** How an earlier start of the node decided that the attempt ends, or null. */
export const loadEnding = (context: AttemptContext): Ending | null => progressOf(context).ending ?? null;
