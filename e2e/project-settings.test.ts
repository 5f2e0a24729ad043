/** What a repository brings for agent programs to run by themselves: settings, hooks, servers, extensions. What runs of it is known by name. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@orrery/client';
import type { ScriptedModel } from '@orrery/scripted-model';
import { beforeAll, describe, expect, it } from 'vitest';
import { acpNames, agentNames, configFor, isThere, modelOfSuite, scriptsOf, type TalkerName } from './support/agents.ts';
import type { Life } from './support/life.ts';
import { placeOfSuite } from './support/place.ts';
import { bringSettings, BROUGHT_NOTHING } from './support/project-settings.ts';
import { makeRepository } from './support/repository.ts';
import { logOf, turnOver } from './support/sessions.ts';
import { taskEnd } from './support/wait.ts';

const look = [{ shell: 'ls -A' }, { text: 'I looked.' }];

/** What runs all the same: these programs have no switch that holds for it. The guide to sessions says so. */
const known: Readonly<Partial<Record<TalkerName, readonly string[]>>> = {
  opencode: ['ran-opencode-plugin'],
  copilot: ['ran-copilot-hook'],
};

/** Files of the repository that a program writes anew by itself: Qwen Code brings its settings there into its newest form. */
const rewritten: Readonly<Partial<Record<TalkerName, number>>> = { qwen: 1 };

const ranIn = (folder: string): readonly string[] => readdirSync(folder).filter((name) => name.startsWith('ran-'));

/** A case that is not one of this program. */
const notOfIt = (_name: string, _test: () => Promise<void>): void => undefined;

for (const name of [...agentNames, ...acpNames]) {
  const runs = known[name] ?? [];
  describe.skipIf(!isThere(name))(name, { timeout: 240_000 }, () => {
    const place = placeOfSuite();
    let model: ScriptedModel;
    let life: Life;
    let client: Client;
    let repository: string;

    beforeAll(async () => {
      model = await modelOfSuite(scriptsOf({ task: look, session: look }));
      place.configure(configFor(model, { harness: name }));
      await place.cli(['secret', 'set', 'test'], { input: 'made-up-provider-key' });
      life = await place.up();
      client = place.client(life);
      repository = makeRepository(place, 'brings-settings', { validation: BROUGHT_NOTHING });
      bringSettings(repository);
      await client.call('projectAdd', { body: { source: repository } });
    });

    (runs.length > 0 ? notOfIt : it)('runs nothing of it in a task', async () => {
      const { id } = await client.call('taskAdd', { body: { prompt: 'Look. [task]', project: repository } });
      const task = await taskEnd(client, id, 200_000);
      expect([task.verdict, task.reason, task.result?.filesChanged]).toEqual(['accepted', null, rewritten[name] ?? 0]);
    });

    (runs.length === 0 ? notOfIt : it)('does a task in a repository that brings nothing', async () => {
      const plain = makeRepository(place, 'brings-nothing', { validation: BROUGHT_NOTHING });
      await client.call('projectAdd', { body: { source: plain } });
      const { id } = await client.call('taskAdd', { body: { prompt: 'Look. [task]', project: plain } });
      const task = await taskEnd(client, id, 200_000);
      expect([task.verdict, task.reason, task.result?.filesChanged]).toEqual(['accepted', null, 0]);
    });

    it(runs.length === 0 ? 'runs nothing of it in a session' : `runs ${runs.join(', ')} alone in a session`, async () => {
      const { id, environment } = await client.call('sessionCreate', {
        body: { project: repository, mode: 'all', prompt: 'Look. [session]' },
      });
      const [turn] = (await client.call('turnList', { params: { id } })).items;
      expect((await turnOver(client, id, turn!.id)).outcome).toBe('success');
      const seen = JSON.stringify((await logOf(client, id)).map(({ body }) => body));
      expect(seen).toContain('preload.cjs');
      // A relative path may be one of the home too.
      const { workdir } = await client.call('environmentShow', { params: { id: environment.id } });
      const home = join(place.data, 'environments', environment.id, 'home');
      expect([...ranIn(workdir ?? '/nowhere'), ...ranIn(home)]).toEqual(runs);
    });
  });
}
