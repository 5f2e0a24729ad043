/** How fast a node knows again what a hundred programs do. */
import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import process from 'node:process';
import { expect, it } from 'vitest';
import { nothing, settledLeftovers } from './support/leftovers.ts';
import { placeOfTest } from './support/place.ts';
import { bodiesOf, pause, waitFor } from './support/wait.ts';

const TASKS = 100;

// How long it takes is measured by bench/recovery.ts; here it is printed.
it(`${TASKS} running programs are known again, all go on, all end well`, { timeout: 300_000 }, async () => {
  const place = placeOfTest({ queue: { parallel: TASKS, perProject: TASKS } });
  const life = await place.up();
  const client = place.client(life);
  const ids: string[] = [];
  const hold = `${place.folder}/home/end`;
  for (let task = 0; task < TASKS; task++) {
    const { id } = await client.call('taskAdd', {
      body: {
        prompt: 'stay',
        backend: 'local',
        harness: 'command',
        command: ['sh', '-c', `echo begun; while [ ! -e ${hold} ]; do sleep 1; done; echo over`],
      },
    });
    ids.push(id);
  }
  await waitFor(
    'all of them',
    async () => {
      await pause(500);
      return (await begun(client)) === TASKS ? true : null;
    },
    200_000,
  );
  await life.kill();
  const next = await place.up();
  const again = place.client(next);
  const recovered = await waitFor('the event', async () => {
    const { items } = await again.call('taskList', { query: { limit: 1 } });
    const events = await again.call('eventList', { query: { after: Math.max(0, (items[0]?.seq ?? 0) - 900), limit: 1000 } });
    return bodiesOf(events.items, 'node.recovered').at(-1) ?? null;
  });
  process.stdout.write(
    `recovery: ${recovered.tasks} tasks, ${recovered.reattached} go on, in ${recovered.tookMs} ms; ready after ${Math.round(next.readyMs)} ms, at a load of ${loadavg()[0]?.toFixed(1)}\n`,
  );
  expect([recovered.tasks, recovered.reattached, recovered.interrupted]).toEqual([TASKS, TASKS, 0]);
  writeFileSync(hold, '');
  const accepted = await waitFor(
    'every end',
    async () => {
      await pause(500);
      const { items } = await again.call('taskList', { query: { limit: TASKS } });
      return items.every(({ endedAt }) => endedAt !== null) ? items.filter(({ verdict }) => verdict === 'accepted') : null;
    },
    200_000,
  );
  expect(accepted.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  expect(await settledLeftovers(place, next.pid, 60_000)).toEqual(nothing);
});

const begun = async (client: ReturnType<ReturnType<typeof placeOfTest>['client']>): Promise<number> => {
  let count = 0;
  for (let after = 0; ;) {
    const { items } = await client.call('eventList', { query: { after, limit: 1000 } });
    count += bodiesOf(items, 'text').filter(({ text }) => text.startsWith('begun')).length;
    const last = items.at(-1);
    if (last === undefined) return count;
    after = last.seq;
  }
};
