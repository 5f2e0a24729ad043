/** A node that is killed at every step of a fork: it is whole or there is none, nothing of it is left, and the session it parted from is as it was. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@orrery/client';
import type { OrreryEvent, SessionView } from '@orrery/protocol';
import { start, type ScriptedModel } from '@orrery/scripted-model';
import { afterAll, describe, expect, it } from 'vitest';
import { agentNames, configFor, lastCallOf, isThere, scriptsOf } from './support/agents.ts';
import { crashRows, type Ground } from './support/crash-rows.ts';
import { makeRepository } from './support/repository.ts';
import { isAsBefore, thereIs } from './support/session-leftovers.ts';
import { afterForked, beforeForked, CARRIED, forkedPlace } from './support/session-points.ts';
import { logOf, sessionIn, turnOver } from './support/sessions.ts';

/** Those that go on with a memory of their own, and one that is given a record. */
const names = [...agentNames, 'qwen'] as const;
type Name = (typeof names)[number];

const remembers = (name: Name): boolean => name !== 'qwen';

const pointsOf = (name: Name): readonly string[] => [
  ...beforeForked.filter((point) => remembers(name) || point !== 'session-fork-kept'),
  ...afterForked,
  ...(remembers(name) ? [CARRIED] : []),
  ...(name === 'claude' ? forkedPlace : []),
];

const isBefore = (point: string): boolean => (beforeForked as readonly string[]).includes(point);

let model: ScriptedModel | null = null;
afterAll(() => model?.close());

const row = crashRows(async (place) => {
  const fork = [{ shell: 'echo one > one.txt' }, { text: 'One is there.' }, { text: 'On it goes.', times: 'forever' }];
  model ??= await start({ script: scriptsOf({ fork }) });
  place.configure(configFor(model));
  await place.cli(['secret', 'set', 'test'], { input: 'made-up-provider-key' });
  makeRepository(place, 'parted', {});
});

const say = async (client: Client, id: string, text: string): Promise<void> => {
  const { id: turn } = await client.call('turnAdd', { params: { id }, body: { text } });
  expect((await turnOver(client, id, turn)).outcome).toBe('success');
};

const treeOf = async (client: Client, { environment }: SessionView): Promise<string> =>
  (await client.call('environmentShow', { params: { id: environment.id } })).workdir ?? '/nowhere';

/** A session to part from, with a turn behind it and a file written by hand. */
type Base = { readonly ground: Ground; readonly session: SessionView; readonly marker: string };

const begin = async (ground: Ground, name: Name): Promise<Base> => {
  const client = ground.client();
  const project = join(ground.place.folder, 'repositories/parted');
  await client.call('projectAdd', { body: { source: project } });
  const session = await client.call('sessionCreate', { body: { project, harness: name, mode: 'all' } });
  const marker = `MARKER-${name}-${session.id.slice(-6)}`;
  await say(client, session.id, `Make one. [fork] ${marker}-base`);
  writeFileSync(join(await treeOf(client, session), 'mine.txt'), 'written by hand\n');
  return { ground, session, marker };
};

const isGapless = (log: readonly OrreryEvent[]): void =>
  expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, index) => index + 1));

for (const name of names) {
  describe.skipIf(!isThere(name))(`a node that dies while a session with ${name} parts`, { timeout: 240_000 }, () => {
    let base: Base | null = null;

    it.each(pointsOf(name))('at %s has the whole fork or none', (point) =>
      row(async (ground) => {
        if (base?.ground !== ground) base = await begin(ground, name);
        const { session, marker } = base;
        const { id } = session;
        const mark = `${marker}-${point.replaceAll(':', '-')}`;
        const forked = (client: Client) => client.call('sessionFork', { params: { id }, body: { requestId: mark } });
        const log = await logOf(ground.client(), id);
        const shown = await sessionIn(ground.client(), id, ['idle']);
        const before = await thereIs(ground);
        await ground.dies(point, forked);
        const client = ground.client();
        if (isBefore(point)) await isAsBefore(ground, before);
        const fork = await forked(client);
        expect(fork.replayed).toBe(!isBefore(point));

        // It is whole: files, words, and a program that knows them.
        await sessionIn(client, fork.id, ['idle', 'dormant']);
        const tree = await treeOf(client, fork);
        expect(['one.txt', 'mine.txt'].map((file) => existsSync(join(tree, file)))).toEqual([true, true]);
        await say(client, fork.id, `Another way. ${mark}-fork`);
        expect(lastCallOf(model!)).toContain(`${marker}-base`);
        isGapless(await logOf(client, fork.id));
        expect(await forked(client)).toMatchObject({ id: fork.id, replayed: true });

        // The one it parted from was only read, and goes on.
        expect(await logOf(client, id)).toEqual(log);
        const { conversation, generation, state } = await client.call('sessionShow', { params: { id } });
        expect([conversation, generation, state]).toEqual([shown.conversation, shown.generation, 'idle']);
        await say(client, id, `On as before. ${mark}-more`);
        expect(lastCallOf(model!)).not.toContain(`${mark}-fork`);
        expect(model!.promptCounts()).toMatchObject({ [`${mark}-fork`]: 1, [`${mark}-more`]: 1 });

        await client.call('sessionEnd', { params: { id: fork.id }, body: {} });
        await sessionIn(client, fork.id, ['ended']);
        const at = { params: { id: fork.environment.id }, query: { salvage: 'true' }, timeoutMs: 60_000 } as const;
        await client.call('environmentDelete', at);
        await client.call('sessionDelete', { params: { id: fork.id } });
        await isAsBefore(ground, before);
      }),
    );
  });
}
