/** What a newcomer does first, on a machine that has nothing of Orrery but the checkout. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Task } from '@orrery/protocol';
import { describe, expect, it } from 'vitest';
import { isThere } from './support/agents.ts';
import { nothing, settledLeftovers } from './support/leftovers.ts';
import { placeOfTest, type Place } from './support/place.ts';
import { eventsOf, bodiesOf } from './support/wait.ts';

const MOST_MS = 60_000;

/** What doctor complains of that a newcomer never asked for. */
const complaints = async (place: Place): Promise<string[]> => {
  const { lines } = (await place.cli(['doctor', '--json'])).envelope().result as { lines: { area: string; state: string }[] };
  const complained = lines.filter(({ state }) => state !== 'ok').map(({ area }) => area);
  return complained.filter((area) => /^(backend (?!sandbox)|harness|configuration)/.test(area));
};

describe.skipIf(!isThere('pi'))('a newcomer', () => {
  it(
    'runs the demo: the node starts by itself, the first attempt is sent back, the second is accepted',
    { timeout: 180_000 },
    async () => {
      const place = placeOfTest();
      const from = performance.now();
      const answer = await place.cli(['demo', '--json', '--folder', join(place.folder, 'demo')]);
      const tookMs = performance.now() - from;
      expect([answer.code, answer.envelope().error]).toEqual([0, undefined]);
      const { task, files } = answer.envelope().result as { task: Task; files: { path: string }[] };
      expect([task.verdict, task.project?.path, files.map(({ path }) => path), task.result?.validation?.passed]).toEqual([
        'accepted',
        join(place.folder, 'demo'),
        ['roman.sh'],
        true,
      ]);
      const status = await place.cli(['status', '--json']);
      expect([status.code, status.envelope().ok]).toEqual([0, true]);
      expect(await complaints(place)).toEqual([]);
      const log = await place.cli(['task', 'log', task.id]);
      expect([log.code, log.stdout.includes('sh test.sh')]).toEqual([0, true]);
      const { url, pid } = JSON.parse(readFileSync(join(place.data, 'node.json'), 'utf8')) as { url: string; pid: number };
      const client = place.client({ url });
      const rounds = bodiesOf(await eventsOf(client, task.id), 'stage.ended').filter(({ stage }) => stage === 'validate');
      expect(rounds.map(({ state }) => state)).toEqual(['failed', 'passed']);
      const apply = await place.cli(['task', 'apply', task.id]);
      expect([apply.code, readFileSync(join(place.folder, 'demo/roman.sh'), 'utf8').includes('900:CM')]).toEqual([0, true]);
      // Typed outside of the repository that was changed: what to look at names it.
      expect(apply.stderr).toContain(`git -C ${join(place.folder, 'demo')} log -1 --stat`);
      expect(await settledLeftovers(place, pid)).toEqual(nothing);
      const down = await place.cli(['down', '--json']);
      expect([down.code, existsSync(`/proc/${pid}`)]).toEqual([0, false]);
      expect(tookMs).toBeLessThan(MOST_MS);
    },
  );

  it('is told the next step in three lines when no node runs', async () => {
    const place = placeOfTest();
    const answer = await place.cli(['task', 'list']);
    expect([answer.code, answer.stderr.trimEnd().split('\n').at(-1)?.trim()]).toEqual([4, 'orrery up --detach']);
  });
});
