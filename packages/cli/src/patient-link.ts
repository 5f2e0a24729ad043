// The way to the node for as long as a program of a person's is there: an editor, or one that is attached. A node that was started anew may be at another address: it is
// looked for again, and what was being read goes on at its cursor.
import type { CallRequest, Client } from '@orrery/client';
import type { AnswerOf, OperationName, OrreryEvent } from '@orrery/protocol';
import { toOrreryError, type OrreryError } from '@orrery/protocol/errors';
import type { Connection } from './connect.ts';

export type Link = {
  /** The node, found and checked. */
  connection(): Promise<Connection>;
  /**
   * Calls the node, again after it was away. For reads, and for changes that the node does once however often they come
   * (a request id, or a state that is set).
   */
  call<Name extends OperationName>(name: Name, request: CallRequest<Name>): Promise<AnswerOf<Name>>;
  /** Calls it again only when nothing can have been done. */
  callOnce<Name extends OperationName>(name: Name, request: CallRequest<Name>): Promise<AnswerOf<Name>>;
  /** Events of a session after a sequence, over as many lives of the node as it takes. */
  follow(session: string, from: Following): AsyncGenerator<OrreryEvent, void, undefined>;
  close(): void;
};

export type Following = { readonly after: number; readonly signal: AbortSignal; readonly onReset: (after: number) => void };

export type LinkLimits = {
  /** How long a node may be away before what waits for it fails. */
  readonly awayMs: number;
  /** First and longest pause between two tries to find the node again. */
  readonly pauseMs: { readonly first: number; readonly longest: number };
  /** How long one connection to the node's events tries by itself before the node is looked for again. */
  readonly streamAwayMs: number;
};

type LinkParts = {
  /** Connects for the first time; may start a node. */
  readonly first: () => Promise<Connection>;
  /** Looks for the node again. */
  readonly again: () => Promise<Connection>;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly limits: LinkLimits;
  readonly signal: AbortSignal;
};

const away = new Set<OrreryError['code']>(['node_unreachable', 'node_not_running', 'node_draining']);

export const createLink = (parts: LinkParts): Link => {
  const { awayMs, pauseMs, streamAwayMs } = parts.limits;
  let current: Promise<Connection> | null = null;
  let begun = false;
  const connection = (): Promise<Connection> => {
    current ??= (begun ? parts.again() : parts.first()).then(
      (made) => ((begun = true), made),
      (thrown: unknown) => ((current = null), Promise.reject(toOrreryError(thrown))),
    );
    return current;
  };
  const forget = (old: Promise<Connection> | null): void => {
    if (old === null || current !== old) return;
    current = null;
    void old.then(({ client }) => client.close()).catch(() => undefined);
  };

  /** Does something with the node, again and again while it is away and `again` says that it may be done. */
  const patiently = async <Answer>(
    work: (client: Client) => Promise<Answer>,
    again: (error: OrreryError) => boolean,
  ): Promise<Answer> => {
    const from = parts.now();
    for (let tries = 0; ; tries++) {
      const tried = connection();
      try {
        return await work((await tried).client);
      } catch (thrown) {
        const error = toOrreryError(thrown);
        // Before there was a node at all, nobody waits for one.
        if (!begun || !again(error) || parts.now() - from > awayMs || parts.signal.aborted) throw error;
        forget(tried);
        await parts.sleep(Math.min(pauseMs.longest, pauseMs.first * 2 ** Math.min(tries, 16)));
      }
    }
  };

  return {
    connection,
    call: (name, request) =>
      patiently(
        (client) => client.call(name, request as never),
        ({ code }) => away.has(code) || code === 'outcome_unknown',
      ),
    callOnce: (name, request) =>
      patiently(
        (client) => client.call(name, request as never),
        ({ code }) => away.has(code),
      ),
    follow: (session, from) => followed({ patiently, session, from, streamAwayMs, forget: () => forget(current) }),
    close: () => forget(current),
  };
};

type Followed = {
  readonly patiently: <Answer>(
    work: (client: Client) => Promise<Answer>,
    again: (error: OrreryError) => boolean,
  ) => Promise<Answer>;
  readonly session: string;
  readonly from: Following;
  readonly streamAwayMs: number;
  readonly forget: () => void;
};

async function* followed({
  patiently,
  session,
  from,
  streamAwayMs,
  forget,
}: Followed): AsyncGenerator<OrreryEvent, void, undefined> {
  const { signal, onReset } = from;
  let { after } = from;
  while (!signal.aborted) {
    // Being answered at all says that the node is there.
    const client = await patiently(
      async (found) => (await found.call('sessionShow', { params: { id: session } }), found),
      ({ code }) => away.has(code),
    );
    try {
      const options = { after, signal, awayMs: streamAwayMs };
      for await (const event of client.sessionEvents(session, { ...options, onReset: (reset) => onReset(reset.after) })) {
        yield event;
        after = event.sequence ?? after;
      }
    } catch (thrown) {
      const error = toOrreryError(thrown);
      if (!away.has(error.code)) throw error;
      forget();
    }
  }
}
