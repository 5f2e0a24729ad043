// What tests of sessions wait for.
import type { Client } from '@orrery/client';
import type { OrreryEvent, SessionView, TurnView } from '@orrery/protocol';
import { waitFor } from './wait.ts';

/** A session once it is in one of these states. */
export const sessionIn = (client: Client, id: string, states: readonly SessionView['state'][]): Promise<SessionView> =>
  waitFor(
    `session ${id} to be ${states.join(' or ')}`,
    async () => {
      const session = await client.call('sessionShow', { params: { id } });
      return states.includes(session.state) ? session : null;
    },
    120_000,
  );

/** An input once it is over, or parked. */
export const turnOver = (client: Client, session: string, turn: string): Promise<TurnView> =>
  waitFor(
    `the turn ${turn} to be over`,
    async () => {
      const { items } = await client.call('turnList', { params: { id: session } });
      return items.find(({ id, state }) => id === turn && ['ended', 'removed', 'uncertain'].includes(state)) ?? null;
    },
    120_000,
  );

/** The whole log of a session. */
export const logOf = async (client: Client, id: string): Promise<OrreryEvent[]> => {
  const all: OrreryEvent[] = [];
  for (let after = 0; ;) {
    const { items, nextCursor } = await client.call('sessionLog', { params: { id }, query: { after, limit: 1000 } });
    all.push(...items);
    if (nextCursor === null) return all;
    after = Number(nextCursor);
  }
};

/** Rows of one kind, as a reader who takes the newest revision of each sees them. */
export const texts = (events: readonly OrreryEvent[]): string[] => {
  const rows = new Map<string, string>();
  for (const { body } of events) if (body.kind === 'text') rows.set(body.row, body.text);
  return [...rows.values()];
};

/** One red dot, as a PNG. */
export const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** What of one kind a log holds. */
export const kinds = <Kind extends OrreryEvent['body']['kind']>(events: readonly OrreryEvent[], kind: Kind) =>
  events.flatMap(({ body }) => (body.kind === kind ? [body as Extract<OrreryEvent['body'], { kind: Kind }>] : []));
