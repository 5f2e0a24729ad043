/** What a repository brings for agent programs to run by themselves: settings, hooks, servers, extensions. None of it runs. */
import type { Client } from '@orrery/client';
import type { ScriptedModel } from '@orrery/scripted-model';
import { beforeAll, describe, expect, it } from 'vitest';
import { acpNames, agentNames, configFor, isThere, modelOfSuite, scriptsOf } from './support/agents.ts';
import type { Life } from './support/life.ts';
import { placeOfSuite } from './support/place.ts';
import { bringSettings, BROUGHT_NOTHING } from './support/project-settings.ts';
import { makeRepository } from './support/repository.ts';
import { logOf, turnOver } from './support/sessions.ts';
import { taskEnd } from './support/wait.ts';

const look = [{ shell: 'ls -A' }, { text: 'I looked.' }];

/** Those that hold sessions alone have no case with a task. */
const talkersAlone: readonly string[] = acpNames;

for (const name of [...agentNames, ...acpNames]) {
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

    it.skipIf(talkersAlone.includes(name))('runs nothing of it in a task', async () => {
      const { id } = await client.call('taskAdd', { body: { prompt: 'Look. [task]', project: repository } });
      const task = await taskEnd(client, id, 200_000);
      expect([task.verdict, task.reason, task.result?.filesChanged]).toEqual(['accepted', null, 0]);
    });

    it('runs nothing of it in a session', async () => {
      const { id } = await client.call('sessionCreate', {
        body: { project: repository, mode: 'all', prompt: 'Look. [session]' },
      });
      const [turn] = (await client.call('turnList', { params: { id } })).items;
      expect((await turnOver(client, id, turn!.id)).outcome).toBe('success');
      const seen = JSON.stringify((await logOf(client, id)).map(({ body }) => body));
      expect(seen).toContain('preload.cjs');
      expect(seen).not.toContain('ran-');
    });
  });
}
