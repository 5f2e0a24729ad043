/** A node that is killed at every step of going back: its next start goes on with it, once, and nothing is lost. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { start } from '@orrery/scripted-model';
import { describe, expect, it, onTestFinished } from 'vitest';
import { callsWith, configFor, isThere, scriptsOf } from './support/agents.ts';
import { asked, died } from './support/dying.ts';
import { placeOfTest } from './support/place.ts';
import { makeRepository } from './support/repository.ts';
import { rewindPoints } from './support/session-points.ts';
import { logOf, sessionIn, turnOver } from './support/sessions.ts';
import { waitFor } from './support/wait.ts';

const back = [
  { shell: 'echo one > one.txt; git add one.txt; git commit -q -m one' },
  { text: 'One is there.' },
  { shell: 'echo two > two.txt; git add two.txt; git commit -q -m two' },
  { text: 'Two is there.' },
  { text: 'Now without two.' },
];

for (const name of ['claude', 'pi'] as const) {
  describe.skipIf(!isThere(name))(`a node that dies while a session with ${name} goes back`, { timeout: 240_000 }, () => {
    it.each(rewindPoints)('at %s goes on with it', async (point) => {
      const place = placeOfTest();
      const model = await start({ script: scriptsOf({ back }) });
      onTestFinished(() => model.close());
      place.configure(configFor(model, { harness: name }));
      await place.cli(['secret', 'set', 'test'], { input: 'made-up-provider-key' });
      const repository = makeRepository(place, 'gone-back', {});
      const first = await place.up({ killAt: point });
      const before = place.client(first);
      await before.call('projectAdd', { body: { source: repository } });
      const { id, environment } = await before.call('sessionCreate', { body: { project: repository, mode: 'all' } });
      for (const text of ['Make one. [back] MARKER-one', 'Make two. MARKER-two']) {
        const { id: turn } = await before.call('turnAdd', { params: { id }, body: { text } });
        expect((await turnOver(before, id, turn)).outcome).toBe('success');
      }
      const { workdir } = await before.call('environmentShow', { params: { id: environment.id } });
      const mine = join(workdir ?? '', 'mine.txt');
      writeFileSync(mine, 'written by hand\n');
      await asked(before.call('sessionRewind', { params: { id }, body: { to: '2' } }));
      await died(first, point);

      const client = place.client(await place.up());
      await waitFor('the session to have gone back', async () => {
        const kinds = (await logOf(client, id)).map(({ body }) => body.kind);
        return kinds.includes('rewound') ? kinds : null;
      });
      await sessionIn(client, id, ['dormant']);
      expect([existsSync(join(workdir ?? '', 'two.txt')), existsSync(mine)]).toEqual([false, false]);
      const { id: turn } = await client.call('turnAdd', { params: { id }, body: { text: 'Go on. MARKER-three' } });
      expect((await turnOver(client, id, turn)).outcome).toBe('success');
      const told = callsWith(model, '[back]').at(-1)!.body;
      expect([told.includes('MARKER-one'), told.includes('MARKER-two')]).toEqual([true, false]);
      const log = await logOf(client, id);
      expect(log.filter(({ body }) => body.kind === 'rewound')).toHaveLength(1);
      expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, index) => index + 1));
      // What was there stands in the checkpoint that was made before: going to it brings it back.
      const { items } = await client.call('sessionCheckpoints', { params: { id } });
      const kept = items.filter(({ kind }) => kind === 'rewind');
      expect(kept).toHaveLength(1);
      await client.call('sessionRewind', { params: { id }, body: { to: kept[0]!.id } });
      expect([existsSync(join(workdir ?? '', 'two.txt')), existsSync(mine)]).toEqual([true, true]);
      expect(model.promptCounts()).toMatchObject({ 'MARKER-one': 1, 'MARKER-two': 1, 'MARKER-three': 1 });
    });
  });
}
