// Glossary. A task is a unit of queued work; an attempt is one go at it; a stage is one step of an attempt; a verdict is
// how a task ended. Contract: tasks.

import {
  OrreryError,
  type Attempt,
  type Stage,
  type Task,
  type TaskIntent,
  type TaskResult,
  type TaskState,
  type Verdict,
} from '@orrery/protocol';
import type { Selectable } from 'kysely';
import { agentRefOf } from '../store/kept-agent.ts';
import type { AttemptTable, StageTable, TaskTable } from '../store/tables.ts';

export type TaskRow = Selectable<TaskTable>;
export type AttemptRow = Selectable<AttemptTable>;
export type StageRow = Selectable<StageTable>;

const moves: Readonly<Record<TaskState, readonly TaskState[]>> = {
  queued: ['waiting', 'running', 'cancelled', 'failed'],
  waiting: ['queued', 'running', 'accepted', 'rejected', 'failed', 'cancelled', 'limit', 'interrupted'],
  running: ['waiting', 'accepted', 'rejected', 'failed', 'cancelled', 'limit', 'interrupted'],
  limit: ['queued', 'cancelled'],
  interrupted: ['queued', 'cancelled'],
  accepted: [],
  rejected: [],
  failed: [],
  cancelled: [],
};

/** The states from which a task may come to `to`. */
export const statesBefore = (to: TaskState): readonly TaskState[] =>
  (Object.keys(moves) as TaskState[]).filter((from) => moves[from].includes(to));

/** States in which nothing of a task runs or waits any more. */
export const hasEnded = (state: TaskState): boolean => !['queued', 'waiting', 'running'].includes(state);

/** Why an attempt ended other than accepted. */
export type Ending = { readonly verdict: Verdict; readonly cause: string | null; readonly reason: string | null };

/** How much of a prompt lists and records show. */
const promptPreviewChars = 20_000;

const toInstant = (ms: number): string => new Date(ms).toISOString();
const maybeInstant = (ms: number | null): string | null => (ms === null ? null : toInstant(ms));

/** What a task is shown with beside its own row. */
export type TaskSurroundings = {
  readonly seq: number;
  readonly attempts: number;
  readonly project: Task['project'];
  readonly pullRequest: Task['pullRequest'];
  readonly replayed?: boolean;
};

/** The intent a task was made with. */
export const intentOf = (row: Pick<TaskRow, 'intent'>): TaskIntent => JSON.parse(row.intent) as TaskIntent;

/** A task as clients see it. */
export const toTask = (row: TaskRow, around: TaskSurroundings): Task => {
  const intent = intentOf(row);
  return {
    id: row.id,
    seq: around.seq,
    state: row.state as TaskState,
    waitingFor: row.waiting_for,
    verdict: row.verdict as Verdict | null,
    cause: row.cause,
    reason: row.reason,
    prompt: intent.prompt.slice(0, promptPreviewChars),
    promptBytes: Buffer.byteLength(intent.prompt),
    project: around.project,
    agent: agentRefOf(row),
    harness: row.harness,
    model: row.model,
    backend: row.backend,
    goal: intent.goal ?? null,
    base: intent.base ?? null,
    branch: intent.branch ?? null,
    readOnly: intent.readOnly,
    interactive: intent.interactive ?? false,
    priority: intent.priority,
    continues: row.continues,
    dependsOn: [...(intent.dependsOn ?? [])],
    notBefore: intent.notBefore ?? null,
    series: row.series,
    attempts: around.attempts,
    result: row.result === null ? null : (JSON.parse(row.result) as TaskResult),
    origin: intent.origin ?? { kind: 'api', by: 'unknown' },
    requestId: row.request_id,
    replayed: around.replayed ?? false,
    appliedAt: maybeInstant(row.applied_at),
    pullRequest: around.pullRequest,
    createdAt: toInstant(row.created_at),
    startedAt: maybeInstant(row.started_at),
    endedAt: maybeInstant(row.ended_at),
  };
};

const toStage = (row: StageRow): Stage => ({
  name: row.name as Stage['name'],
  round: row.round,
  state: row.state as Stage['state'],
  exitCode: row.exit_code,
  note: row.note,
  output: row.output,
  startedAt: toInstant(row.started_at),
  endedAt: maybeInstant(row.ended_at),
});

/** An attempt with its stages as clients see it. */
export const toAttempt = (row: AttemptRow, stages: readonly StageRow[]): Attempt => ({
  id: row.id,
  taskId: row.task_id,
  number: row.number,
  environmentId: row.environment_id,
  conversation: row.conversation,
  backend: row.backend,
  guarantees: JSON.parse(row.guarantees) as Attempt['guarantees'],
  verdict: row.verdict as Verdict | null,
  cause: row.cause,
  reason: row.reason,
  stages: stages.map(toStage),
  startedAt: toInstant(row.started_at),
  endedAt: maybeInstant(row.ended_at),
});

/** The error for an id that names no task. */
export const taskNotFound = (id: string): OrreryError =>
  new OrreryError('not_found', `There is no task ${id.slice(0, 60)}.`, {
    rule: 'A task is named by its id, or by enough of its beginning to be the only one.',
    fix: 'orrery task list',
  });
