/** What a repository brings for agent programs to run by themselves: settings, hooks, servers, extensions. None of it runs. */
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
import { taskEnd, waitFor } from './support/wait.ts';

// Qwen Code may lose the output of a command that is over at once.
const look = [{ shell: 'ls -A; sleep 0.3' }, { text: 'I looked.' }];

/** What these programs would run whatever they are told: they are not started there. */
const refused: Readonly<Partial<Record<TalkerName, string>>> = {
  opencode: '.opencode, opencode.json',
  copilot: '.github/hooks',
};

/** Files of the repository that a program writes anew by itself: Qwen Code brings its settings there into its newest form. */
const rewritten: Readonly<Partial<Record<TalkerName, number>>> = { qwen: 1 };

const ranIn = (folder: string): readonly string[] => readdirSync(folder).filter((name) => name.startsWith('ran-'));

/** A case that is not one of this program. */
const notOfIt = (_name: string, _test: () => Promise<void>): void => undefined;

/** Whatever left its mark in the checkout or the home: a relative path may be one of either. */
const marksOf = async (environment: string): Promise<readonly string[]> => {
  const { workdir } = await client.call('environmentShow', { params: { id: environment } });
  return [...ranIn(workdir ?? '/nowhere'), ...ranIn(join(place.data, 'environments', environment, 'home'))];
};

// One node for all programs; it starts anew where its operator trusts another project.
const place = placeOfSuite();
const script = scriptsOf({ task: look, session: look });
const trusted: string[] = [];
let model: ScriptedModel;
let life: Life;
let client: Client;

const up = async (): Promise<void> => {
  place.configure(configFor(model, { execution: { trustedProjects: trusted } }));
  life = await place.up();
  client = place.client(life);
};

beforeAll(async () => {
  model = await modelOfSuite(script);
  await place.cli(['secret', 'set', 'test'], { input: 'made-up-provider-key' });
  await up();
});

for (const name of [...agentNames, ...acpNames]) {
  const brings = refused[name];
  describe.skipIf(!isThere(name))(name, { timeout: 240_000 }, () => {
    const project = `brings-settings-${name}`;
    let repository: string;

    const doTask = async (source: string) => {
      const { id } = await client.call('taskAdd', { body: { prompt: 'Look. [task]', project: source, harness: name } });
      return taskEnd(client, id, 200_000);
    };

    const talk = () =>
      client.call('sessionCreate', { body: { project: repository, harness: name, mode: 'all', prompt: 'Look. [session]' } });

    beforeAll(async () => {
      model.reset(script);
      repository = makeRepository(place, project, { validation: BROUGHT_NOTHING });
      bringSettings(repository);
      await client.call('projectAdd', { body: { source: repository } });
    });

    (brings === undefined ? it : notOfIt)('runs nothing of it in a task', async () => {
      const task = await doTask(repository);
      expect([task.verdict, task.reason, task.result?.filesChanged]).toEqual(['accepted', null, rewritten[name] ?? 0]);
    });

    (brings === undefined ? it : notOfIt)('runs nothing of it in a session', async () => {
      const { id, environment } = await talk();
      const [turn] = (await client.call('turnList', { params: { id } })).items;
      expect((await turnOver(client, id, turn!.id)).outcome).toBe('success');
      const seen = JSON.stringify((await logOf(client, id)).map(({ body }) => body));
      expect(seen).toContain('preload.cjs');
      expect(await marksOf(environment.id)).toEqual([]);
    });

    (brings === undefined ? notOfIt : it)(
      'is not started there, in a task or a session, until the operator trusts it',
      async () => {
        const why = `The harness ${name} runs what this checkout brings: ${brings}.`;
        const task = await doTask(repository);
        expect([task.verdict, task.cause, task.reason]).toEqual(['failed', 'workspace', expect.stringContaining(why)]);
        const { id, environment } = await talk();
        const session = await waitFor('the refusal', async () => {
          const now = await client.call('sessionShow', { params: { id } });
          return now.state === 'failed' ? now : null;
        });
        expect(session.reason).toContain(why);
        expect(session.reason).toContain(`"${project}" to execution.trustedProjects`);
        expect([await marksOf(environment.id), model.log()]).toEqual([[], []]);
        const plain = makeRepository(place, `brings-nothing-${name}`, { validation: BROUGHT_NOTHING });
        await client.call('projectAdd', { body: { source: plain } });
        expect((await doTask(plain)).verdict).toBe('accepted');
        // The input waited.
        trusted.push(project);
        await life.stop();
        await up();
        await client.call('sessionClose', { params: { id } });
        await client.call('sessionResume', { params: { id } });
        const [turn] = (await client.call('turnList', { params: { id } })).items;
        expect((await turnOver(client, id, turn!.id)).outcome).toBe('success');
        expect(await marksOf(environment.id)).not.toEqual([]);
      },
    );
  });
}
