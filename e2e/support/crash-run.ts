// One task through as many lives of the node as there are kill points, and what it came to.
import { createHash } from 'node:crypto';
import type { Client } from '@orrery/client';
import { OrreryError, type OrreryEvent, type Task, type TaskCreate } from '@orrery/protocol';
import { settledLeftovers, type Leftovers } from './leftovers.ts';
import type { Life, LifeOptions } from './life.ts';
import type { Place } from './place.ts';
import { fileAt } from './repository.ts';
import { bodiesOf, eventsOf, pause, taskEnd, textOf } from './wait.ts';

/** How long a node may take to come to its kill point. */
const POINT_MS = 90_000;

/** What a task came to, without times and ids: the same however often the node died. */
export type Outcome = {
  readonly verdict: Task['verdict'];
  readonly cause: string | null;
  readonly reason: string | null;
  readonly attempts: number;
  readonly filesChanged: number | undefined;
  /** What was asked, in order. */
  readonly prompts: readonly string[];
  /** What the program printed in each turn. */
  readonly turns: readonly string[];
  readonly stages: readonly string[];
  /** What hooks printed, by stage and round. */
  readonly hookOutput: Readonly<Record<string, string>>;
  readonly endings: readonly unknown[];
  readonly gapless: boolean;
  readonly files: Readonly<Record<string, string | null>>;
  readonly left: Leftovers;
};

export type CrashRun = {
  readonly place: Place;
  readonly request: TaskCreate & { readonly requestId: string };
  readonly killAt: readonly string[];
  /** How long the node stays dead, ms. */
  readonly deadMs: number;
  /** Files of the result to compare. */
  readonly files: readonly string[];
  readonly repository: string;
  readonly limitMs?: number;
  /** As in `LifeOptions`. */
  readonly main?: string;
};

/** Runs a task and lets the node die at each point in turn. Throws when a point is never reached. */
export const crashRun = async (run: CrashRun): Promise<Outcome> => {
  const { place, request, killAt, deadMs } = run;
  const options = run.main === undefined ? {} : { main: run.main };
  for (const [index, point] of killAt.entries()) {
    const life = await upOrDead(place, { ...options, killAt: point });
    if (life === null) continue;
    if (index === 0) await send(place, life, request);
    const end = await Promise.race([life.ended, pause(POINT_MS).then(() => null)]);
    if (end === null) throw new Error(`the node never came to ${point}`);
    if (end.signal !== 'SIGKILL') throw new Error(`the node ended with ${JSON.stringify(end)} before ${point}: ${life.stderr()}`);
    await pause(deadMs);
  }
  const life = await place.up(options);
  const client = place.client(life);
  const { items } = await client.call('taskList', { query: { limit: 200 } });
  // A death before the task was there, of something that went before it, shows nothing of the point.
  if (killAt.length > 0 && !items.some(({ requestId }) => requestId === request.requestId))
    throw new Error(`the node died before it had the task: ${killAt.join(', ')}`);
  if (request.project != null) await client.call('projectAdd', { body: { source: request.project } });
  const { id } = await client.call('taskAdd', { body: request, idempotencyKey: request.requestId });
  return outcomeOf(run, { life, client, id });
};

/** A node may come to its point while it recovers, before it is ready. */
const upOrDead = (place: Place, options: LifeOptions): Promise<Life | null> =>
  place.up(options).catch((thrown: unknown) => {
    if (thrown instanceof Error && thrown.name === 'NodeRefused' && (thrown as { code?: number | null }).code === null)
      return null;
    throw thrown;
  });

/** The node may die before it answers: then the same request is sent again later, with the same id. */
const send = async (place: Place, life: Life, request: CrashRun['request']): Promise<void> => {
  const client = place.client(life);
  try {
    const project = request.project ?? null;
    if (project !== null)
      await client.call('projectAdd', { body: { source: project }, idempotencyKey: `add-${request.requestId}` });
    await client.call('taskAdd', { body: request, idempotencyKey: request.requestId });
  } catch (thrown) {
    if (!(thrown instanceof OrreryError) || !['outcome_unknown', 'node_unreachable', 'node_not_running'].includes(thrown.code))
      throw thrown;
  }
};

const outcomeOf = async (
  { place, files, repository, limitMs }: CrashRun,
  { life, client, id }: { readonly life: Life; readonly client: Client; readonly id: string },
): Promise<Outcome> => {
  const task = await taskEnd(client, id, limitMs);
  const left = await settledLeftovers(place, life.pid);
  const events = await eventsOf(client, id);
  const shown = await applied(client, task);
  return {
    verdict: task.verdict,
    cause: task.cause,
    reason: task.reason,
    attempts: task.attempts,
    filesChanged: task.result?.filesChanged,
    prompts: bodiesOf(events, 'user').map(({ text }) => text),
    turns: [1, 2, 3].map((turn) => textOf(events, turn)),
    stages: stagesOf(events),
    hookOutput: hookOutputOf(events),
    endings: bodiesOf(events, 'task.ended').map(({ verdict, cause, filesChanged }) => ({ verdict, cause, filesChanged })),
    gapless: events.every(({ sequence }, index) => sequence === index + 1),
    files: Object.fromEntries(files.map((file) => [file, shown === null ? null : fileAt(repository, shown, file)])),
    left,
  };
};

/** The result as a branch of the repository, so that its files can be read there. */
const applied = async (client: Client, task: Task): Promise<string | null> => {
  if (task.verdict !== 'accepted' || task.result?.headSha == null || task.project === null) return null;
  const answer = await client.call('taskApply', { params: { id: task.id }, body: { mode: 'branch' }, timeoutMs: 60_000 });
  return answer.headSha;
};

const stagesOf = (events: readonly OrreryEvent[]): string[] =>
  events.flatMap(({ body }) => {
    if (body.kind === 'stage.started') return [`${body.attempt}/${body.stage}/${body.round} started`];
    if (body.kind === 'stage.ended') return [`${body.attempt}/${body.stage}/${body.round} ${body.state} ${body.exitCode}`];
    return [];
  });

const hookOutputOf = (events: readonly OrreryEvent[]): Record<string, string> => {
  const all: Record<string, string> = {};
  for (const { stage, round, text } of bodiesOf(events, 'stage.output'))
    all[`${stage}/${round}`] = `${all[`${stage}/${round}`] ?? ''}${text}`;
  return all;
};

/** A short name for a long text. */
export const digest = (text: string): string => `${text.length} characters, ${createHash('sha256').update(text).digest('hex')}`;
