import type { Client } from '@orrery/client';
import type { EventBody, OrreryEvent, Task } from '@orrery/protocol';

/** How often it is looked: what comes late is looked for less often, since each look takes its time from what is waited for. */
const [FIRST_MS, LAST_MS] = [50, 250];

/** Resolves with the first answer that is not null; throws with `what` when none came in time. */
export const waitFor = async <T>(what: string, look: () => Promise<T | null> | T | null, limitMs = 30_000): Promise<T> => {
  const from = performance.now();
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    const waited = performance.now() - from;
    if (waited > limitMs) throw new Error(`not within ${limitMs} ms: ${what}`);
    await pause(Math.min(LAST_MS, FIRST_MS + waited / 20));
  }
};

/** Waits. */
export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const over: readonly Task['state'][] = ['accepted', 'rejected', 'failed', 'cancelled', 'limit', 'interrupted'];

/** The task when it has ended. */
export const taskEnd = (client: Client, id: string, limitMs = 90_000): Promise<Task> =>
  waitFor(
    `the end of ${id}`,
    async () => {
      const task = await client.call('taskShow', { params: { id } });
      return over.includes(task.state) ? task : null;
    },
    limitMs,
  );

/** Every event of a task. */
export const eventsOf = async (client: Client, id: string): Promise<OrreryEvent[]> => {
  const events: OrreryEvent[] = [];
  for (;;) {
    const { items } = await client.call('taskLog', { params: { id }, query: { after: events.length, limit: 1000 } });
    events.push(...items);
    if (items.length === 0) return events;
  }
};

/** Bodies of one kind, in order. */
export const bodiesOf = <Kind extends EventBody['kind']>(
  events: readonly OrreryEvent[],
  kind: Kind,
): Extract<EventBody, { kind: Kind }>[] =>
  events.map(({ body }) => body).filter((body): body is Extract<EventBody, { kind: Kind }> => body.kind === kind);

/** What the program printed, whole. */
export const textOf = (events: readonly OrreryEvent[], turn?: number): string =>
  events
    .filter((event) => turn === undefined || event.turn === turn)
    .map(({ body }) => (body.kind === 'text' ? body.text : ''))
    .join('');

/** Waits until what a task printed holds a text. */
export const printed = (client: Client, id: string, text: string): Promise<true> =>
  waitFor(`${id} prints ${JSON.stringify(text)}`, async () => (textOf(await eventsOf(client, id)).includes(text) ? true : null));
