import type { ServerResponse } from 'node:http';
import { isId, type OrreryEvent } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { STREAM_BUFFER_BYTES, STREAM_KEEP_ALIVE_MS, STREAM_READERS, STREAM_STALL_MS } from '../kernel/limits.ts';
import { errorFields, type Log } from '../kernel/log.ts';
import type { Store } from '../store/store.ts';
import { securityHeaders } from './envelope.ts';
import { createFrameBatch } from './frames.ts';
import type { LiveRow } from './live-frames.ts';
import { createReplayPages } from './replay-pages.ts';
import { createReader, tooManyReaders, type Reader, type ReplaySource } from './reader.ts';

/** A reader that asks for a stream. */
export type StreamRequest = {
  readonly response: ServerResponse;
  /** The cursor to begin after; null: a task's from its first event, the node's from now. */
  readonly after: number | null;
  /** Kinds of events; null: all. */
  readonly types: ReadonlySet<string> | null;
  /** Of a session: also text that is being written. */
  readonly live?: boolean;
};

/**
 * The event streams. Each reader is subscribed first, then replayed from the store until nothing is missing, then live:
 * every event above its cursor comes once and in order. One that does not keep up is disconnected with its cursor, never
 * skipped (contracts/sessions.md, "The log").
 */
export type Streams = {
  /** Takes over the response. Rejects before the first byte with `limit_reached`. */
  node(request: StreamRequest): Promise<void>;
  /** The same for one task; also rejects with `not_found`. */
  task(request: StreamRequest, id: string): Promise<void>;
  /** The same for one session. */
  session(request: StreamRequest, id: string): Promise<void>;
  readonly readers: number;
  /** Ends every stream and takes no more. */
  close(): void;
};

export type StreamParts = {
  readonly store: Store;
  readonly log: Log;
  /** The full id of a task from what a client calls it; rejects with `not_found`. Default: the id itself. */
  readonly resolveTask?: (id: string) => Promise<string>;
  /** The same of a session. */
  readonly resolveSession?: (id: string) => Promise<string>;
  /** What sessions write now; default: nothing is shown before it is stored. */
  readonly liveTexts?: LiveSource;
  readonly bufferBytes?: number;
  readonly keepAliveMs?: number;
  readonly stallMs?: number;
  readonly maxReaders?: number;
};

/** Rows that are being written, and who is told of changes. */
export type LiveSource = {
  rows(session: string): readonly LiveRow[];
  watch(session: string, changed: () => void): () => void;
};

const headers = { ...securityHeaders, 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' };

/** Whom a reader belongs to: null is the node. */
type Topic = string | null;

export const createStreams = (parts: StreamParts): Streams => {
  const { store, log, maxReaders = STREAM_READERS } = parts;
  const pages = createReplayPages(store);
  const topics = new Map<Topic, Set<Reader>>();
  let count = 0;
  let closed = false;

  const unsubscribe = store.subscribe((events) => {
    if (events.some(({ body }) => body.kind === 'session.removed')) pages.forget();
    publish(topics.get(null), () => createFrameBatch(events, 'seq'));
    for (const [owner, mine] of byOwner(events)) publish(topics.get(owner), () => createFrameBatch(mine, 'sequence'));
  });
  const all = (): Reader[] => [...topics.values()].flatMap((readers) => [...readers]);
  const timer = setInterval(() => all().forEach((reader) => reader.keepAlive()), parts.keepAliveMs ?? STREAM_KEEP_ALIVE_MS);
  timer.unref();

  const leave = (topic: Topic, reader: Reader): void => {
    const readers = topics.get(topic);
    if (readers?.delete(reader) !== true) return;
    count--;
    if (readers.size === 0) topics.delete(topic);
  };

  const open = (
    request: StreamRequest,
    { topic, after, source, live }: { topic: Topic; after: number; source: ReplaySource; live: string | null },
  ): void => {
    if (closed) throw new OrreryError('node_draining', 'The node is stopping.', { fix: 'Start it again: orrery up' });
    if (count >= maxReaders) throw tooManyReaders(maxReaders);
    const show = (): void => {
      if (live !== null) reader.showLive(parts.liveTexts?.rows(live) ?? []);
    };
    const unwatch = live === null ? undefined : parts.liveTexts?.watch(live, show);
    const reader: Reader = createReader({
      response: request.response,
      numbering: topic === null ? 'seq' : 'sequence',
      after,
      types: request.types,
      bufferBytes: parts.bufferBytes ?? STREAM_BUFFER_BYTES,
      stallMs: parts.stallMs ?? STREAM_STALL_MS,
      ...(live === null ? {} : { onDrain: show }),
      onEnd: ({ slow, cursor }) => {
        unwatch?.();
        leave(topic, reader);
        if (slow) log.info('stream.slow', { taskId: topic, cursor });
      },
    });
    count++;
    topics.set(topic, (topics.get(topic) ?? new Set()).add(reader));
    request.response.socket?.setNoDelay(true);
    request.response.writeHead(200, headers);
    reader.replay(source).then(show, (thrown: unknown) => {
      log.error('stream.failed', errorFields(thrown));
      reader.end('the node could not read its events');
    });
  };

  /** Follows the log of one task or session. */
  const own = (request: StreamRequest, owner: string): void => {
    const source: ReplaySource = {
      page: (after, types, buffer) => pages.read({ owner, after, types }, buffer),
      newest: () => newestSequence(store, owner),
      seq: store.seq,
    };
    const live = request.live === true && isId('session', owner) ? owner : null;
    open(request, { topic: owner, after: request.after ?? 0, source, live });
  };

  return {
    get readers() {
      return count;
    },
    node: async (request) => {
      const source: ReplaySource = {
        page: (after, types, buffer) => pages.read({ owner: null, after, types }, buffer),
        newest: () => newestSeq(store),
        seq: store.seq,
      };
      open(request, { topic: null, after: request.after ?? store.seq(), source, live: null });
    },
    task: async (request, id) =>
      own(request, await (parts.resolveTask ?? ((given: string) => existing(store, 'task', given)))(id)),
    session: async (request, id) =>
      own(request, await (parts.resolveSession ?? ((given: string) => existing(store, 'session', given)))(id)),
    close: () => {
      closed = true;
      clearInterval(timer);
      unsubscribe();
      for (const reader of all()) reader.end('the node is stopping');
    },
  };
};

/** Gives a commit to its readers; its frames are made only when somebody reads. */
const publish = (readers: ReadonlySet<Reader> | undefined, makeBatch: () => ReturnType<typeof createFrameBatch>): void => {
  if (readers === undefined || readers.size === 0) return;
  const batch = makeBatch();
  for (const reader of readers) reader.deliver(batch);
};

const byOwner = (events: readonly OrreryEvent[]): Map<string, OrreryEvent[]> => {
  const found = new Map<string, OrreryEvent[]>();
  for (const event of events) {
    const owner = event.sessionId ?? event.taskId;
    if (owner === null) continue;
    const own = found.get(owner);
    if (own === undefined) found.set(owner, [event]);
    else own.push(event);
  }
  return found;
};

const existing = async (store: Store, table: 'task' | 'session', id: string): Promise<string> => {
  const row = await store.read.selectFrom(table).select('id').where('id', '=', id).executeTakeFirst();
  if (row === undefined) throw new OrreryError('not_found', `There is no such ${table}.`, { fix: `orrery ${table} list` });
  return row.id;
};

/** What is committed, also when it was not told to listeners yet. */
const newestSeq = async (store: Store): Promise<number> => {
  const row = await store.read
    .selectFrom('event')
    .select(({ fn }) => fn.max('seq').as('newest'))
    .executeTakeFirst();
  return Math.max(row?.newest ?? 0, store.seq());
};

const newestSequence = async (store: Store, owner: string): Promise<number> => {
  const table = isId('session', owner) ? 'session' : 'task';
  const row = await store.read
    .selectFrom('event')
    .where(`event.${table}_key`, '=', (eb) => eb.selectFrom(table).select('key').where('id', '=', owner))
    .select(({ fn }) => fn.max('event.sequence').as('newest'))
    .executeTakeFirst();
  return row?.newest ?? 0;
};
