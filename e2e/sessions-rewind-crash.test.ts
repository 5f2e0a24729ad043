/** A node that is killed at every step of going back: its next start goes on with it, once, and nothing is lost. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@orrery/client';
import { start, type ScriptedModel } from '@orrery/scripted-model';
import { afterAll, describe, expect, it } from 'vitest';
import { callsWith, configFor, isThere, scriptsOf } from './support/agents.ts';
import { crashRows, type Ground } from './support/crash-rows.ts';
import { makeRepository } from './support/repository.ts';
import { rewindPoints } from './support/session-points.ts';
import { logOf, sessionIn, turnOver } from './support/sessions.ts';
import { waitFor } from './support/wait.ts';

const back = [
  { shell: 'echo one > one.txt; git add one.txt; git commit -q -m one' },
  { text: 'One is there.' },
  { shell: 'echo two > two.txt; git add two.txt; git commit -q -m two' },
  { text: 'Two is there.' },
  { text: 'Now without two.', times: 'forever' },
];

let model: ScriptedModel | null = null;
afterAll(() => model?.close());

const row = crashRows(async (place) => {
  model ??= await start({ script: scriptsOf({ back }) });
  place.configure(configFor(model));
  await place.cli(['secret', 'set', 'test'], { input: 'made-up-provider-key' });
  makeRepository(place, 'gone-back', {});
});

const say = async (client: Client, id: string, text: string): Promise<void> => {
  const { id: turn } = await client.call('turnAdd', { params: { id }, body: { text } });
  expect((await turnOver(client, id, turn)).outcome).toBe('success');
};

/** A session with two turns and a file written by hand. */
type Session = { readonly ground: Ground; readonly id: string; readonly workdir: string; readonly marker: string };

const begin = async (ground: Ground, name: string, marker: string): Promise<Session> => {
  const client = ground.client();
  const project = join(ground.place.folder, 'repositories/gone-back');
  await client.call('projectAdd', { body: { source: project } });
  const { id, environment } = await client.call('sessionCreate', { body: { project, harness: name, mode: 'all' } });
  for (const text of ['Make one. [back] MARKER-one', 'Make two. MARKER-two'])
    await say(client, id, text.replace('MARKER', marker));
  const { workdir } = await client.call('environmentShow', { params: { id: environment.id } });
  writeFileSync(join(workdir ?? '', 'mine.txt'), 'written by hand\n');
  return { ground, id, workdir: workdir ?? '', marker };
};

for (const name of ['claude', 'pi'] as const) {
  describe.skipIf(!isThere(name))(`a node that dies while a session with ${name} goes back`, { timeout: 240_000 }, () => {
    /** Each row leaves it as it found it, for the next one. */
    let session: Session | null = null;

    it.each(rewindPoints)('at %s goes on with it', (point) =>
      row(async (ground) => {
        if (session?.ground !== ground) session = await begin(ground, name, `MARKER-${name}-${point}`);
        const { id, workdir, marker } = session;
        const there = (): readonly boolean[] => ['two.txt', 'mine.txt'].map((file) => existsSync(join(workdir, file)));
        const rewinds = async () => (await logOf(ground.client(), id)).filter(({ body }) => body.kind === 'rewound').length;
        const kept = async () =>
          (await ground.client().call('sessionCheckpoints', { params: { id } })).items.filter(({ kind }) => kind === 'rewind');
        const before = { rewinds: await rewinds(), kept: (await kept()).length };
        expect(there()).toEqual([true, true]);
        await ground.dies(point, (client) => client.call('sessionRewind', { params: { id }, body: { to: '2' } }));

        const client = ground.client();
        await waitFor('the session to have gone back', async () => ((await rewinds()) > before.rewinds ? true : null));
        await sessionIn(client, id, ['dormant']);
        expect(there()).toEqual([false, false]);
        await say(client, id, `Go on. ${marker}-${point}`);
        const told = callsWith(model!, `${marker}-one`).at(-1)!.body;
        expect([told.includes(`${marker}-one`), told.includes(`${marker}-two`)]).toEqual([true, false]);
        expect(await rewinds()).toBe(before.rewinds + 1);
        const log = await logOf(client, id);
        expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, index) => index + 1));
        // What was there stands in the checkpoint that was made before: going to it brings it back.
        const checkpoints = await kept();
        expect(checkpoints).toHaveLength(before.kept + 1);
        await client.call('sessionRewind', { params: { id }, body: { to: checkpoints[0]!.id } });
        expect(there()).toEqual([true, true]);
        const once = Object.fromEntries(['one', 'two', point].map((what) => [`${marker}-${what}`, 1]));
        expect(model!.promptCounts()).toMatchObject(once);
      }),
    );
  });
}
