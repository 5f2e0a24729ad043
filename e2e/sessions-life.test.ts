/** Sessions of real agent programs as a whole: what becomes of one that is over. */
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@orrery/client';
import type { SessionView } from '@orrery/protocol';
import type { ScriptedModel } from '@orrery/scripted-model';
import { beforeAll, describe, expect, it } from 'vitest';
import { configFor, isThere, modelOfSuite, scriptsOf, type AgentName } from './support/agents.ts';
import { codeOf } from './support/commands.ts';
import type { Life } from './support/life.ts';
import { placeOfSuite } from './support/place.ts';
import { makeRepository } from './support/repository.ts';
import { sessionIn, turnOver } from './support/sessions.ts';
import { waitFor } from './support/wait.ts';

const SLOW = { timeout: 240_000 };

const talkers = ['claude', 'codex', 'pi'] as const satisfies readonly AgentName[];

/** Who goes on with the conversation of whom. */
const successor: Readonly<Record<AgentName, AgentName>> = { claude: 'codex', codex: 'pi', pi: 'claude' };

const cases = {
  named: [
    { text: 'Here.' },
    { text: '**"A broken *pomegranate* press."**', on: 'side', times: 'forever', matchPrompt: '\\[named\\]' },
  ],
  // Before the next one, whose marker is in the record.
  on: [{ shell: 'cat first.txt > second.txt' }, { text: 'The second goes on.' }],
  over: [{ shell: 'echo by-the-first > first.txt' }, { text: 'The first has done its part.' }],
  gone: [{ shell: 'echo kept > work.txt' }, { text: 'A rare pomegranate.' }],
};

for (const name of talkers) {
  describe.skipIf(!isThere(name))(`the life of a session with ${name}`, SLOW, () => {
    const place = placeOfSuite();
    let model: ScriptedModel;
    let life: Life;
    let client: Client;
    let repository: string;

    beforeAll(async () => {
      model = await modelOfSuite(scriptsOf(cases));
      place.configure(configFor(model, { harness: name, sessions: { titleModel: 'anthropic/small' } }));
      await place.cli(['secret', 'set', 'test'], { input: 'made-up-provider-key' });
      life = await place.up();
      client = place.client(life);
      repository = makeRepository(place, 'whole-lives', {});
      await client.call('projectAdd', { body: { source: repository } });
    });

    const say = async (id: string, text: string): Promise<void> => {
      const { id: turn } = await client.call('turnAdd', { params: { id }, body: { text } });
      expect((await turnOver(client, id, turn)).outcome).toBe('success');
    };

    const begin = async (): Promise<SessionView> => {
      const session = await client.call('sessionCreate', { body: { project: repository, mode: 'all' } });
      return sessionIn(client, session.id, ['idle']);
    };

    /** Refs of a session's checkpoints in the node's own copies of repositories. */
    const checkpointRefs = (id: string): string => {
      const mirrors = join(place.data, 'mirrors');
      return readdirSync(mirrors)
        .map((one) =>
          execFileSync('git', ['-C', join(mirrors, one), 'for-each-ref', `refs/orrery/checkpoints/${id}/`]).toString(),
        )
        .join('');
    };

    it('is called like its environment and told by a title, until a person names it', async () => {
      const { id, name: called, environment } = await begin();
      expect(called).toBe(environment.name);
      await say(id, 'Look at the press. [named]');
      const title = async (): Promise<string> => (await client.call('sessionShow', { params: { id } })).title;
      await waitFor('the title', async () => (await title()) === 'A broken pomegranate press', 30_000);
      const asked = await waitFor('the call in the log of the model', () => {
        const calls = model.log().filter(({ call }) => call?.model === 'small');
        return calls.length > 0 ? calls : null;
      });
      expect(asked.map(({ call, body }) => [call?.tools.length, body.includes('Here.'), body.includes(place.folder)])).toEqual([
        [0, false, false],
      ]);
      expect((await place.cli(['session', 'list'])).stdout).toContain('A broken pomegranate press');
      await place.cli(['session', 'rename', called, 'press']);
      expect(await client.call('sessionShow', { params: { id: 'press' } })).toMatchObject({ id, name: 'press', title: 'press' });
      await client.call('sessionEnd', { params: { id }, body: {} });
    });

    it('goes on with another program, which is given a record of it, in the same files and under its name', async () => {
      const { id, name: called, environment } = await begin();
      await say(id, 'Begin it. [over]');
      const other = successor[name];
      const handed = await place.cli(['session', 'hand-over', called, 'MARKER-on Go on. [on]', '--harness', other, '--json']);
      expect(handed.stderr).toBe('');
      const { session } = handed.envelope().result as { readonly session: SessionView };
      expect(session).toMatchObject({ name: called, harness: other, handedFrom: id, environment: { id: environment.id } });
      const [first] = (await client.call('turnList', { params: { id: session.id } })).items;
      expect((await turnOver(client, session.id, first!.id)).outcome).toBe('success');
      expect(await sessionIn(client, id, ['ended'])).toMatchObject({ handedTo: session.id });
      expect(model.promptCounts()['MARKER-on']).toBe(1);
      const [call] = model.log().filter(({ body }) => body.includes('MARKER-on'));
      expect(call?.body).toContain(`This is a record of a conversation with ${name}`);
      expect(call?.body).toContain('The first has done its part.');
      expect(call?.body).toContain('added first.txt');
      const { stdout } = await place.cli(['env', 'exec', environment.name, '--', 'cat', 'second.txt']);
      expect(stdout).toContain('by-the-first');
      await client.call('sessionEnd', { params: { id: session.id }, body: {} });
    });

    it('is deleted with all that was said in it, once it is over and its work is saved', async () => {
      const { id, name: called, environment } = await begin();
      await client.call('attachmentAdd', { params: { id }, query: { name: 'a.txt' }, body: Buffer.from('attached') });
      await say(id, 'Make it. [gone]');
      expect(checkpointRefs(id)).not.toBe('');
      const found = async (): Promise<number> =>
        (await client.call('sessionSearch', { query: { q: 'pomegranate' } })).items.length;
      expect(await found()).toBe(1);
      expect((await place.cli(['session', 'delete', called])).code).toBe(6);
      expect(await codeOf(client.call('sessionDelete', { params: { id } }))).toBe('conflict');
      await client.call('sessionEnd', { params: { id }, body: {} });
      await sessionIn(client, id, ['ended']);
      expect(await codeOf(client.call('sessionDelete', { params: { id } }))).toBe('unsaved_work');
      await client.call('environmentDelete', { params: { id: environment.id }, query: { salvage: 'true' }, timeoutMs: 60_000 });
      const gone = await place.cli(['session', 'delete', called, '--yes', '--json']);
      expect(JSON.parse(gone.stdout)).toMatchObject({ result: { deleted: id } });
      expect(await codeOf(client.call('sessionShow', { params: { id } }))).toBe('history_expired');
      expect(await codeOf(client.call('turnAdd', { params: { id }, body: { text: 'again' } }))).toBe('history_expired');
      expect(await found()).toBe(0);
      expect(checkpointRefs(id)).toBe('');
      expect(readdirSync(join(place.data, 'attachments'))).toEqual([]);
      expect((await client.call('salvageList')).items.length).toBeGreaterThan(0);
    });
  });
}
