// A view of one keeper in a place that outlives its connections: when one breaks, the next goes on where it ended.
import type { Duplex } from 'node:stream';
import { OrreryError } from '@orrery/protocol/errors';
import { KeeperRefusal, openChannel } from '../../keeper/channel.ts';
import type { Channel, StreamFrame } from '../../keeper/channel.ts';
import { encodeStreamOffset, STREAM_CODE } from '../../keeper/frames.ts';
import type { RequestName } from '../../keeper/frames.ts';
import { sameIdentity } from '../../keeper/identity.ts';
import { keeperLost } from '../../keeper/lost.ts';
import type { KeeperHello, KeeperLook } from '../../keeper/records.ts';
import { translateRefusal } from '../../keeper/requests.ts';
import type { KeeperIdentity, OutputStream } from '../../keeper/types.ts';
import { GREETING_MS, HEARTBEAT_ANSWER_MS, HEARTBEAT_MS } from './limits.ts';
import { createPauses, explanationOf, judgeFailure } from './patience.ts';
import type { Line } from './patience.ts';
import { createSubscription } from './subscription.ts';
import type { Subscription } from './subscription.ts';

/** What a view of a keeper is made of. */
export type LinkParts = {
  readonly line: Line;
  readonly dir: string;
  /** Null: whoever answers there is the one. */
  readonly identity: KeeperIdentity | null;
  /** A fresh connection to the keeper of `dir`. */
  readonly dial: () => Promise<Duplex>;
  /** What the files of `dir` say now. */
  readonly look: () => Promise<KeeperLook>;
};

/** A view that reconnects. */
export type Link = {
  readonly hello: KeeperHello;
  /** Asks until there is an answer. Rejects with what the keeper refuses, `keeper_lost` when it is gone, `stale` after `close`. */
  request(name: RequestName, body?: Uint8Array): Promise<unknown>;
  /** A reader of a stream, or null when it has one on this view already. */
  subscribe(stream: OutputStream, from: number): Subscription | null;
  unsubscribe(subscription: Subscription): void;
  readonly closed: boolean;
  close(): void;
};

const dropped = (): OrreryError =>
  new OrreryError('stale', 'This view of the program was dropped.', { rule: 'The program goes on; open another view.' });

/** The keeper's end as an error, when it is certain that it ended; returns when it lives or nobody can tell. */
const checkAlive = async ({ line, look, identity }: LinkParts): Promise<void> => {
  let found: KeeperLook;
  try {
    found = await look();
  } catch (thrown) {
    return judgeFailure(line, thrown);
  }
  const same = !found.missing && (identity === null || (found.identity !== null && sameIdentity(found.identity, identity)));
  if (!found.missing && found.alive && same) return;
  const why = await explanationOf(line);
  throw keeperLost(why === null ? 'it ended in its place' : why);
};

const connectOnce = async (parts: LinkParts, onStream: (frame: StreamFrame) => void): Promise<Channel> => {
  const channel = await openChannel(await parts.dial(), onStream, GREETING_MS);
  if (parts.identity === null || sameIdentity(channel.hello, parts.identity)) return channel;
  channel.close();
  throw keeperLost('another process answers in its place');
};

const connect = async (parts: LinkParts, onStream: (frame: StreamFrame) => void): Promise<Channel> => {
  const pauses = createPauses(parts.line);
  for (;;) {
    try {
      return await connectOnce(parts, onStream);
    } catch (thrown) {
      await checkAlive(parts);
      await pauses.next(thrown);
    }
  }
};

/** Ends a connection that does not answer: a line can be dead without having been closed. */
const watchBeats = (channel: Channel): void => {
  const beat = setInterval(() => {
    const late = setTimeout(() => channel.close(), HEARTBEAT_ANSWER_MS);
    late.unref();
    void channel
      .request('status')
      .catch(() => undefined)
      .finally(() => clearTimeout(late));
  }, HEARTBEAT_MS);
  beat.unref();
  void channel.closed.then(() => clearInterval(beat));
};

type State = {
  channel: Channel | null;
  connecting: Promise<Channel> | null;
  /** Why there will be no connection any more. */
  over: unknown;
  readonly readers: Map<OutputStream, Subscription>;
};

const attach = (channel: Channel, reader: Subscription): void => {
  channel.request('attach', encodeStreamOffset(reader.stream, reader.wanted)).catch((thrown: unknown) => {
    if (thrown instanceof KeeperRefusal) reader.fail(translateRefusal(thrown));
  });
};

/** Stops and starts a stream for its reader. Requests are taken in order, so the last one counts. */
const follow = (state: State, reader: Subscription): void => {
  if (state.channel === null) return;
  if (reader.flowing) attach(state.channel, reader);
  else void state.channel.request('detach', Buffer.of(STREAM_CODE[reader.stream])).catch(() => undefined);
};

/** A reader of a keeper that is gone goes on with what is in its files; every other end is an error. */
const endReader = (reader: Subscription, over: unknown): void => {
  if (over instanceof OrreryError && over.code === 'keeper_lost') reader.lose();
  else reader.fail(over);
};

const createConnector = (parts: LinkParts, state: State): (() => Promise<Channel>) => {
  const route = (frame: StreamFrame): void => state.readers.get(frame.stream)?.take(frame);
  const adopt = (channel: Channel): Channel => {
    state.channel = channel;
    watchBeats(channel);
    for (const reader of state.readers.values()) if (reader.flowing) attach(channel, reader);
    void channel.closed.then(() => {
      if (state.channel !== channel) return;
      state.channel = null;
      // Readers wait for what comes next; requests bring their own reason to reconnect.
      if (state.readers.size > 0 && state.over === null) void current().catch(() => undefined);
    });
    return channel;
  };
  const lose = (thrown: unknown): never => {
    state.over ??= thrown;
    for (const reader of state.readers.values()) endReader(reader, state.over);
    throw state.over;
  };
  const current = (): Promise<Channel> => {
    if (state.over !== null) return Promise.reject(state.over as Error);
    if (state.channel !== null) return Promise.resolve(state.channel);
    state.connecting ??= connect(parts, route)
      .then((channel) => {
        if (state.over === null) return adopt(channel);
        channel.close();
        throw state.over;
      }, lose)
      .finally(() => (state.connecting = null));
    return state.connecting;
  };
  return current;
};

/** Connects to the keeper of `dir`. Rejects with `keeper_lost` when it is gone, `backend_unreachable` when nobody can tell for too long. */
export const openLink = async (parts: LinkParts): Promise<Link> => {
  const state: State = { channel: null, connecting: null, over: null, readers: new Map() };
  const current = createConnector(parts, state);
  const { hello } = await current();
  return {
    hello,
    request: async (name, body) => {
      for (;;) {
        const channel = await current();
        try {
          return await channel.request(name, body);
        } catch (thrown) {
          if (thrown instanceof KeeperRefusal) throw translateRefusal(thrown);
          if (state.channel === channel) state.channel = null;
        }
      }
    },
    subscribe: (stream, from) => {
      if (state.readers.has(stream)) return null;
      const reader = createSubscription(stream, from, (one) => follow(state, one));
      state.readers.set(stream, reader);
      if (state.over !== null) endReader(reader, state.over);
      else if (state.channel !== null) attach(state.channel, reader);
      else void current().catch(() => undefined);
      return reader;
    },
    unsubscribe: (reader) => {
      if (state.readers.get(reader.stream) !== reader) return;
      state.readers.delete(reader.stream);
      void state.channel?.request('detach', Buffer.of(STREAM_CODE[reader.stream])).catch(() => undefined);
    },
    get closed() {
      return state.over instanceof OrreryError && state.over.code === 'stale';
    },
    close: () => {
      state.over ??= dropped();
      state.channel?.close();
      for (const reader of state.readers.values()) reader.fail(state.over);
    },
  };
};
