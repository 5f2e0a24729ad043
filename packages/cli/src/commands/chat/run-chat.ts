// One chat, from its first page to its end: what the node says and what keys say meet in `update`.

import { createLiveRows } from '@orrery/client';
import type { LiveText, OrreryEvent, SessionView } from '@orrery/protocol';
import type { OrreryError } from '@orrery/protocol/errors';
import type { Connection } from '../../connect.ts';
import type { CommandContext } from '../command.ts';
import type { Instance } from 'ink';
import type { Drawn, Frame } from './app.ts';
import { textOf } from './composer.ts';
import { createNodeLink, type NodeLink } from './node-link.ts';
import { readPast, rememberPast } from './past-inputs.ts';
import { createPerform, PAGE_EVENTS, type ChatEnd } from './perform.ts';
import { beginState, isBusy, written, type ChatState, type Message } from './state.ts';
import { update } from './update.ts';
import { scrollbackLines, viewOf } from './view.ts';

/** How often time is looked at, and the queue of a session that others write to as well. */
const TICK_MS = 250;
const LOOK_MS = { busy: 3_000, idle: 10_000 } as const;
/** Events that come close together are drawn together. */
const GATHER_MS = 40;

/** How a chat ended, and what was written in it that the node does not have. */
export type Ended = { readonly end: ChatEnd; readonly session: SessionView; readonly unsent: readonly string[] };

export type Chat = { readonly connection: Connection; readonly session: SessionView; readonly pastFile: string };

const sizeOf = ({ world }: CommandContext): ChatState['size'] => ({
  columns: Math.max(20, world.stdout.columns),
  rows: Math.max(6, world.stdout.rows),
});

/** The state, and what is drawn of it. */
const createStore = (context: CommandContext, first: ChatState) => {
  let state = first;
  let batch: Frame['batch'] = { number: 0, lines: [] };
  let printed = 0;
  let frame: Frame = { view: viewOf(state, context.screen), batch };
  const listeners = new Set<() => void>();
  return {
    state: (): ChatState => state,
    current: (): Frame => frame,
    subscribe: (listener: () => void): (() => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    onPrinted: (number: number): void => {
      printed = Math.max(printed, number);
    },
    take: (message: Message): ReturnType<typeof update> => {
      const done = update(state, message);
      ({ state } = done);
      const lines = scrollbackLines(state, done.print, context.screen);
      // What was not drawn yet is drawn with what is new.
      const kept = batch.number > printed ? batch.lines : [];
      if (lines.length > 0) batch = { number: batch.number + 1, lines: [...kept, ...lines] };
      frame = { view: viewOf(state, context.screen), batch };
      for (const listener of listeners) listener();
      return done;
    },
  };
};

type Gathering = { event(event: OrreryEvent): void; live(piece: LiveText | null): void };

/** Hands on what comes, several at once when it comes fast: what was stored, and what is being written. */
const gather = (dispatch: (message: Message) => void): Gathering => {
  const rows = createLiveRows();
  let waiting: OrreryEvent[] = [];
  let due = false;
  const later = (): void => {
    if (due) return;
    due = true;
    setTimeout(() => {
      const events = waiting;
      waiting = [];
      due = false;
      dispatch({ kind: 'events', events, live: rows.rows() });
    }, GATHER_MS);
  };
  return {
    event: (event) => {
      waiting.push(event);
      rows.stored(event);
      later();
    },
    live: (piece) => {
      if (piece === null) rows.forget();
      else rows.take(piece);
      later();
    },
  };
};

type Fetching = {
  readonly link: NodeLink;
  readonly id: string;
  readonly now: () => number;
  readonly dispatch: (message: Message) => void;
};

/** Reads what the log does not hold: the state, the queue, the questions, what the program can do. One reading at a time, and one more when it was asked for meanwhile. */
const createRefresh = ({ link, id, now, dispatch }: Fetching): (() => void) => {
  let reading = false;
  let again = false;
  let reported: number | null = null;
  const read = async (): Promise<void> => {
    const client = link.client();
    const [session, turns, asks] = await Promise.all([
      client.call('sessionShow', { params: { id } }),
      client.call('turnList', { params: { id } }),
      client.call('interactionList', { query: { session: id } }),
    ]);
    // What a program reports of itself stays the same while it runs.
    const catalogue = session.generation === reported ? null : await client.call('sessionCommands', { params: { id } });
    if (catalogue?.provenance === 'live') reported = session.generation;
    dispatch({ kind: 'facts', session, turns: turns.items, asks: asks.items, catalogue, atMs: now() });
  };
  const refresh = (): void => {
    if (reading) {
      again = true;
      return;
    }
    reading = true;
    // A node that is away is told by the stream of events.
    void read()
      .catch(() => undefined)
      .finally(() => {
        reading = false;
        if (again) refresh();
        again = false;
      });
  };
  return refresh;
};

/** React asks here whether it is being developed; it is slower and larger then. */
const loadDraw = async (): Promise<(drawn: Drawn) => Instance> => {
  process.env['NODE_ENV'] ??= 'production';
  return (await import('./app.ts')).draw;
};

/** Draws a chat until it ends. */
export const runChat = async (context: CommandContext, { connection, session, pastFile }: Chat): Promise<Ended> => {
  const { world } = context;
  const stop = new AbortController();
  const over = Promise.withResolvers<ChatEnd>();
  const link = createNodeLink(context, connection, stop.signal);
  const after = Math.max(0, session.sequence - PAGE_EVENTS);
  const [past, page] = await Promise.all([
    readPast(pastFile),
    connection.client.call('sessionLog', { params: { id: session.id }, query: { after, limit: PAGE_EVENTS } }),
  ]);
  const store = createStore(context, beginState({ session, size: sizeOf(context), nowMs: world.now(), after, past }));
  const dispatch = (message: Message): void => {
    for (const effect of store.take(message).effects) perform(effect);
  };
  const refresh = createRefresh({ link, id: session.id, now: world.now, dispatch });
  const shown = (): SessionView => store.state().session;
  const perform = createPerform({ context, link, session: shown, dispatch, refresh, end: over.resolve, pastFile });
  begin({ after, events: page.items, dispatch });
  refresh();
  const draw = await loadDraw();
  const app = draw({ ...store, onKeys: (keys) => dispatch({ kind: 'keys', keys, atMs: world.now() }) });
  const releases = [
    watchTime(context, { store, dispatch, refresh }),
    world.onResize(() => dispatch({ kind: 'size', ...sizeOf(context) })),
    world.onStop((signal) => over.resolve({ kind: 'signal', signal })),
  ];
  const from = { session: session.id, after: store.state().transcript.sequence, signal: stop.signal };
  followLog({ link, dispatch, ...from }).catch(over.reject);
  try {
    const end = await over.promise;
    const state = store.state();
    await rememberPast(pastFile, textOf(state.composer)).catch(() => undefined);
    return { end, session: state.session, unsent: state.sending.map((one) => written(one.text, one)) };
  } finally {
    stop.abort();
    for (const release of releases) release();
    app.unmount();
    await app.waitUntilExit();
    link.close();
  }
};

type First = {
  readonly after: number;
  readonly events: readonly OrreryEvent[];
  readonly dispatch: (message: Message) => void;
};

/** The newest page, and how much is before it. */
const begin = ({ after, events, dispatch }: First): void => {
  const lines = ['', `  … ${after} earlier events: PageUp or /history`];
  if (after > 0) dispatch({ kind: 'said', items: [{ kind: 'local', lines }] });
  dispatch({ kind: 'events', events, live: [] });
};

type Timing = {
  readonly store: { state(): ChatState };
  readonly dispatch: (message: Message) => void;
  readonly refresh: () => void;
};

const watchTime = ({ world }: CommandContext, { store, dispatch, refresh }: Timing): (() => void) => {
  let lookedMs = world.now();
  const timer = setInterval(() => {
    const nowMs = world.now();
    dispatch({ kind: 'tick', atMs: nowMs });
    if (nowMs - lookedMs < (isBusy(store.state()) ? LOOK_MS.busy : LOOK_MS.idle)) return;
    lookedMs = nowMs;
    refresh();
  }, TICK_MS);
  return () => clearInterval(timer);
};

type Log = {
  readonly link: NodeLink;
  readonly dispatch: (message: Message) => void;
  readonly session: string;
  readonly after: number;
  readonly signal: AbortSignal;
};

const followLog = async ({ link, dispatch, session, after, signal }: Log): Promise<void> => {
  let lost = false;
  const onLost = (error: OrreryError | null): void => {
    if (error === null && lost)
      dispatch({ kind: 'said', items: [{ kind: 'notice', level: 'info', text: 'The node answers again; nothing was missed.' }] });
    if (error !== null || lost)
      dispatch({ kind: 'lost', reason: error === null ? null : 'The node does not answer. What runs goes on; trying again.' });
    lost = error !== null;
  };
  const hand = gather(dispatch);
  for await (const event of link.follow({ session, after, signal, onLost, onLive: hand.live })) hand.event(event);
};
