import type { OrreryEvent } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { createBoundedQueue } from '../../kernel/bounded-queue.ts';
import type { Clock } from '../../kernel/clock.ts';
import { STORE_BATCH_EVENTS, STORE_WAITING_JOBS } from '../../kernel/limits.ts';
import type { NewEvent, Tx } from '../store.ts';
import { toAppendRows, toEvents } from './event-rows.ts';
import { fromFault } from './faults.ts';
import { checked, runJob } from './job.ts';
import type { AppendRow, Request, Result } from './messages.ts';
import { createWriterPipe } from './writer-pipe.ts';
import type { WriterPort } from './writer-port.ts';

/** Works that share one commit at most: the first of them waits for the last, and larger groups gain nothing (the disk writes by the byte). */
const GROUP_WORKS = 100;
/** Jobs that share one commit at most: each is several messages to the writer. */
const GROUP_JOBS = 64;

type Settle = { resolve(value: unknown): void; reject(error: unknown): void };
type Append = Settle & {
  readonly kind: 'append';
  readonly events: readonly NewEvent[];
  readonly rows: readonly AppendRow[];
  readonly nowMs: number;
};
type Job = Settle & { readonly kind: 'job'; readonly run: (tx: Tx) => Promise<unknown> };
type Work = Append | Job;

/** What one work of a group came to, to be told once the group is committed. */
type Outcome =
  | { readonly work: Work; readonly error: unknown }
  | { readonly work: Work; readonly value: unknown; readonly events: readonly OrreryEvent[] };

/** Groups the waiting works into one durable commit after the other. */
export type CommitLoop = {
  append(events: readonly NewEvent[]): Promise<readonly OrreryEvent[]>;
  transaction<T>(job: (tx: Tx) => Promise<T>): Promise<T>;
  /** Refuses new works, and resolves when those that wait are done. */
  stop(): Promise<void>;
};

export type CommitLoopParts = {
  readonly writer: WriterPort;
  readonly clock: Clock;
  /** Called after each commit that appended events, before their callers go on. Must not throw. */
  readonly onCommitted: (events: readonly OrreryEvent[]) => void;
};

const stopped = (): OrreryError =>
  new OrreryError('node_draining', 'The node is stopping and stores nothing new.', {
    fix: 'Start the node again, then repeat the command: orrery up',
  });

export const createCommitLoop = (parts: CommitLoopParts): CommitLoop => {
  const queue = createBoundedQueue<Work>({ name: 'store', limit: STORE_WAITING_JOBS });
  let running: Promise<void> | null = null;
  let closed = false;

  let inFlight: Promise<void> = Promise.resolve();

  const loop = async (): Promise<void> => {
    while (queue.size > 0) {
      // One turn of the event loop gathers the works of everyone who was woken by the commit before.
      await new Promise((resolve) => setImmediate(resolve));
      const group = takeGroup(queue);
      const before = inFlight;
      // While the writer commits a group of appends, the next such group is made ready and sent behind it. Jobs need the
      // writer to themselves: their transaction stays open over several messages.
      if (hasJobs(group)) await before;
      inFlight = commitGroup(group, parts);
      await (hasJobs(group) ? inFlight : before);
    }
    running = null;
  };
  const add = <T>(work: { kind: 'job'; run: Job['run'] } | Omit<Append, keyof Settle>): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      if (closed) throw stopped();
      queue.push({ ...work, resolve: resolve as Settle['resolve'], reject });
      running ??= loop();
    });

  return {
    append: async (events) => {
      if (events.length === 0) return [];
      if (events.length > STORE_BATCH_EVENTS) {
        throw new OrreryError('input_too_large', 'Too many events in one append.', {
          rule: `One append has at most ${STORE_BATCH_EVENTS} events.`,
        });
      }
      const nowMs = parts.clock.nowMs();
      return await add<readonly OrreryEvent[]>({ kind: 'append', events, rows: toAppendRows(events, nowMs), nowMs });
    },
    transaction: (job) => add({ kind: 'job', run: job }),
    stop: async () => {
      closed = true;
      await running;
      await inFlight;
    },
  };
};

type Queue = { readonly size: number; shift(): Work | undefined };

const hasJobs = (group: readonly Work[]): boolean => group.some((work) => work.kind === 'job');

/** The oldest works, in order, that fit one commit. */
const takeGroup = (queue: Queue): Work[] => {
  const group: Work[] = [];
  let events = 0;
  let jobs = 0;
  while (group.length < GROUP_WORKS && events < STORE_BATCH_EVENTS && jobs < GROUP_JOBS) {
    const work = queue.shift();
    if (work === undefined) break;
    group.push(work);
    if (work.kind === 'job') jobs++;
    else events += work.events.length;
  }
  return group;
};

/** Runs a group in one transaction. Each work is told its end only after the commit; a failed commit is everyone's failure. */
const commitGroup = async (group: readonly Work[], parts: CommitLoopParts): Promise<void> => {
  let outcomes: readonly Outcome[];
  try {
    outcomes = hasJobs(group) ? await commitMixed(group, parts) : await commitAppends(group as readonly Append[], parts);
  } catch (error) {
    for (const work of group) work.reject(error);
    return;
  }
  const events = outcomes.flatMap((outcome) => ('error' in outcome ? [] : outcome.events));
  if (events.length > 0) parts.onCommitted(events);
  for (const outcome of outcomes) {
    if ('error' in outcome) outcome.work.reject(outcome.error);
    else outcome.work.resolve(outcome.value);
  }
};

const appendRequest = (works: readonly Append[]): Request => ({ kind: 'append', parts: works.map(({ rows }) => rows) });

/** The common case, one message: begin, every event, commit. */
const commitAppends = async (works: readonly Append[], { writer }: CommitLoopParts): Promise<readonly Outcome[]> => {
  const [, appended, committed] = await writer.send([{ kind: 'begin' }, appendRequest(works), { kind: 'commit' }]);
  if (appended === undefined || committed === undefined) throw new OrreryError('internal', 'The writer gave too few answers.');
  checked(committed);
  return appendOutcomes(works, appended);
};

const appendOutcomes = (works: readonly Append[], result: Result): Outcome[] => {
  const answer = checked(result);
  if (answer.kind !== 'appended') throw new OrreryError('internal', 'The writer gave the wrong answer.');
  return works.map((work, index) => {
    const numbers = answer.parts[index];
    if (numbers === undefined) throw new OrreryError('internal', 'The writer gave too few answers.');
    if ('sqlite' in numbers) return { work, error: fromFault(numbers) };
    const events = toEvents({ events: work.events, numbers, nowMs: work.nowMs });
    return { work, value: events, events };
  });
};

/** Jobs one after the other, appends between them in their place; then one commit. */
const commitMixed = async (group: readonly Work[], { writer, clock }: CommitLoopParts): Promise<readonly Outcome[]> => {
  const pipe = createWriterPipe(writer);
  pipe.later({ kind: 'begin' });
  const outcomes: Outcome[] = [];
  for (const run of runsOf(group)) {
    if (run.kind === 'appends') {
      const result = await pipe.send(appendRequest(run.works));
      outcomes.push(
        ...(result.kind === 'failed'
          ? run.works.map((work) => ({ work, error: fromFault(result.fault) }))
          : appendOutcomes(run.works, result)),
      );
      continue;
    }
    const end = await runJob(run.work.run, { pipe, clock });
    outcomes.push(end.ok ? { work: run.work, value: end.value, events: end.events } : { work: run.work, error: end.error });
  }
  checked(await pipe.send({ kind: 'commit' }));
  return outcomes;
};

type Run = { readonly kind: 'appends'; readonly works: Append[] } | { readonly kind: 'job'; readonly work: Job };

/** Neighbouring appends go to the writer together. */
const runsOf = (group: readonly Work[]): Run[] => {
  const runs: Run[] = [];
  for (const work of group) {
    const last = runs.at(-1);
    if (work.kind === 'job') runs.push({ kind: 'job', work });
    else if (last?.kind === 'appends') last.works.push(work);
    else runs.push({ kind: 'appends', works: [work] });
  }
  return runs;
};
