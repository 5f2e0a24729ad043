// A new task: what it takes over, where it works, and what it waits for, in one transaction.

import { OrreryError, type TaskIntent } from '@orrery/protocol';
import type { Insertable } from 'kysely';
import { appendAudit } from '../audit/index.ts';
import { compileSchema } from '../kernel/json-schema.ts';
import { INPUT_BYTES } from '../kernel/limits.ts';
import { enqueue } from '../queue/index.ts';
import type { Tx } from '../store/store.ts';
import type { TaskTable } from '../store/tables.ts';
import { withPredecessor } from './continuation.ts';
import { intentHash } from '../kernel/intent.ts';
import { taskNotFound, type TaskRow } from './model.ts';
import type { ProjectRef, TaskEnvironment, TaskParts } from './parts.ts';
import { lastOfSeries, withSeries } from './series.ts';
import { findTask, findTaskByRequest, insertTask, updateTask } from './store.ts';
import { waitsFor, whatHolds } from './waiting.ts';

/** A continuation is asked for again as a continuation: where it works follows from that. */
export const again = (intent: TaskIntent): TaskIntent =>
  intent.continues === undefined ? intent : { ...intent, environment: undefined };

/** What the intent of a task becomes before it is queued: taken over from the task that it continues or follows. */
const completed = async (parts: TaskParts, asked: TaskIntent, find: Find): Promise<TaskIntent> => {
  if (asked.continues !== undefined && asked.series !== undefined)
    throw new OrreryError('invalid_input', 'A continuation and a series do not go together.', {
      rule: 'A task of a series continues the one before it by itself.',
      fix: 'Leave --continue or --series away.',
    });
  if (asked.continues !== undefined) return withPredecessor(parts, asked, await find(asked.continues));
  return asked.series === undefined ? asked : withSeries(parts, asked, asked.series);
};

type Find = (id: string) => Promise<TaskRow>;

/** Queues a task with what it waits for, or answers the one that the same request made before. */
export const addTask = async (
  parts: TaskParts,
  asked: TaskIntent,
  find: Find,
): Promise<{ readonly row: TaskRow; readonly replayed: boolean }> => {
  const { requestId: given, origin, ...meaning } = asked;
  const requestId = given ?? parts.ids('request');
  const hash = intentHash(meaning);
  const before = await findTaskByRequest(parts.store.read, requestId);
  if (before !== null) return { row: sameIntent(before, hash), replayed: true };
  await checkTypes(asked);
  const wanted = await completed(parts, asked, find);
  const dependsOn = [...new Set(await Promise.all((wanted.dependsOn ?? []).map(async (id) => (await find(id)).id)))];
  const environment = wanted.environment === undefined ? null : await environmentOf(parts, wanted);
  const named = environment?.project_id ?? wanted.project;
  const project = named === null ? null : await parts.resolveProject(named);
  const { intent, kept } = await parts.withAgent(wanted, { projectId: project?.id ?? null, environment });
  const admitted = await parts.admit(
    environment === null ? intent : { ...intent, backend: environment.backend },
    project?.id ?? null,
  );
  parts.checkRoom();
  const whole = {
    ...intent,
    requestId,
    origin: origin ?? ({ kind: 'api', by: 'unknown' } as const),
    ...(dependsOn.length === 0 ? {} : { dependsOn }),
  };
  const id = parts.ids('task');
  const nowMs = parts.clock.nowMs();
  return parts.store.transaction(async (tx) => {
    const raced = await findTaskByRequest(tx.db, requestId);
    if (raced !== null) return { row: sameIntent(raced, hash), replayed: true };
    const last =
      intent.series === undefined || project === null
        ? null
        : await lastOfSeries(tx.db, { projectId: project.id, series: intent.series });
    const waits = await waitsFor(tx.db, { dependsOn, last });
    const row = newRow(whole, {
      id,
      hash,
      nowMs,
      admitted,
      kept,
      project,
      environment,
      continues: intent.continues ?? last?.id ?? null,
    });
    await insertTask(tx.db, row);
    if (whole.origin.kind === 'session') await auditSession(tx, { session: whole.origin.by, task: id, nowMs });
    await enqueue(tx.db, { taskId: id, priority: intent.priority, notBefore: instantOf(intent.notBefore), nowMs, waits });
    return { row: await begun(tx, id, nowMs), replayed: false };
  });
};

/** What people's own programs ask for is remembered beside what people do. */
const auditSession = (
  tx: Tx,
  { session, task, nowMs }: { readonly session: string; readonly task: string; readonly nowMs: number },
): Promise<void> =>
  appendAudit(tx.db, { actor: `session:${session}`, action: 'task.add', subject: task, outcome: 'done' }, nowMs);

/** The input must fit its schema, and both schemas must be some, before anything is queued. */
const checkTypes = async ({ input, inputSchema, outputSchema }: TaskIntent): Promise<void> => {
  if (Buffer.byteLength(JSON.stringify(input ?? null)) > INPUT_BYTES)
    throw new OrreryError('input_too_large', 'The input of the task is too large.', { rule: `At most ${INPUT_BYTES} bytes.` });
  if (outputSchema !== undefined) await compileSchema(outputSchema, 'output schema');
  if (inputSchema === undefined) return;
  if (input === undefined)
    throw new OrreryError('invalid_input', 'There is a schema of an input, and no input.', {
      rule: 'The two go together.',
      fix: 'orrery run --input FILE --input-schema FILE "what to do with it"',
    });
  const faults = (await compileSchema(inputSchema, 'input schema'))(input);
  if (faults.length > 0)
    throw new OrreryError('invalid_input', `The input does not fit its schema: ${faults[0] ?? ''}.`, {
      rule: faults.join('; '),
      fix: 'Change the input, or its schema.',
    });
};

const instantOf = (text: string | undefined): number => (text === undefined ? 0 : Date.parse(text));

type New = {
  readonly id: string;
  readonly hash: string;
  readonly nowMs: number;
  readonly admitted: Awaited<ReturnType<TaskParts['admit']>>;
  readonly kept: string | null;
  readonly project: ProjectRef | null;
  readonly environment: TaskEnvironment | null;
  readonly continues: string | null;
};

const newRow = (
  intent: TaskIntent & { readonly requestId: string },
  { id, hash, nowMs, admitted, kept, project, environment, continues }: New,
): Insertable<TaskTable> => ({
  id,
  request_id: intent.requestId,
  intent_hash: hash,
  intent: JSON.stringify(intent),
  agent: kept,
  state: 'queued',
  waiting_for: null,
  verdict: null,
  cause: null,
  reason: null,
  project_id: project?.id ?? null,
  harness: admitted.harness,
  model: admitted.model,
  backend: admitted.backend,
  continues,
  environment_id: environment?.id ?? null,
  series: intent.series ?? null,
  cancel_requested: 0,
  result: null,
  applied_at: null,
  created_at: nowMs,
  started_at: null,
  ended_at: null,
});

/** Says what a new task is: queued, or waiting for what. */
const begun = async (tx: Tx, id: string, nowMs: number): Promise<TaskRow> => {
  const waitingFor = await whatHolds(tx.db, { taskId: id, nowMs });
  const state = waitingFor === null ? 'queued' : 'waiting';
  if (waitingFor !== null) await updateTask(tx.db, id, { state });
  await tx.append([
    { taskId: id, turn: null, body: { kind: 'task.created' } },
    { taskId: id, turn: null, body: { kind: 'task.state', state, waitingFor } },
  ]);
  const row = await findTask(tx.db, id);
  if (row === null) throw taskNotFound(id);
  return row;
};

/** The environment a task is to work in: what it says beside must be true of it. */
const environmentOf = async (parts: TaskParts, intent: TaskIntent): Promise<TaskEnvironment> => {
  const reference = intent.environment ?? '';
  const environment = await parts.resolveEnvironment(reference);
  if (environment === null)
    throw new OrreryError('not_found', `There is no environment ${reference.slice(0, 200)}.`, {
      rule: 'A task works in an environment that is there: by id or name.',
      fix: 'orrery env list',
    });
  const project = intent.project === null ? null : await parts.resolveProject(intent.project);
  const beside = [
    ...(project === null || project.id === environment.project_id ? [] : ['--project']),
    ...(intent.backend === undefined || intent.backend === environment.backend ? [] : ['--backend']),
    ...(intent.image === undefined ? [] : ['--image']),
    ...(intent.base === undefined ? [] : ['--base']),
  ];
  if (beside.length === 0) return environment;
  throw new OrreryError('invalid_input', `The environment ${environment.name} is another than ${beside.join(' and ')} says.`, {
    rule: 'Project, backend, image and base of a task are those of its environment.',
    fix: `Leave ${beside.join(' and ')} away, or make another: orrery env create`,
  });
};

const sameIntent = (row: TaskRow, hash: string): TaskRow => {
  if (row.intent_hash === hash) return row;
  throw new OrreryError('request_conflict', `Request ${row.request_id} was used for another task.`, {
    rule: 'One request id stands for one intent; the same id with the same intent answers the same task.',
    fix: 'Leave the request id out, or choose a new one.',
    details: { taskId: row.id },
  });
};
