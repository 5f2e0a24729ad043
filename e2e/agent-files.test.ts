/** Agents as files: what a file says is what runs, in sessions with the real programs; nothing of it loosens what the person said. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Task } from '@orrery/protocol';
import { commitAll, writeFiles } from '@orrery/testkit';
import { describe, expect, it } from 'vitest';
import { agentNames, callsWith, configFor, isThere, modelOfSuite, scriptsOf } from './support/agents.ts';
import { placeOfSuite, type Place } from './support/place.ts';
import { makeRepository } from './support/repository.ts';

const agentFile = (front: string, words: string): string => `---\n${front}\n---\n\n${words}\n`;

/** Agents of every kind: committed, changed since, too loose, too narrow, and the user's of the same name. */
const writeAgents = (place: Place, repository: string, name: string): void => {
  const says = (text: string) => agentFile(`harness: ${name}\ndescription: looks`, text);
  writeFiles(repository, { '.orrery/agents/looker.md': says('WORDS-of-the-project') });
  writeFiles(repository, { '.orrery/agents/loose.md': agentFile('mode: all', 'Anything goes.') });
  writeFiles(repository, { '.claude/agents/narrow.md': agentFile('tools: Read', 'Read only.') });
  commitAll(repository, 'agents');
  writeFiles(repository, { '.orrery/agents/looker.md': says('WORDS-that-are-not-committed') });
  mkdirSync(join(place.config, 'agents'));
  writeFileSync(join(place.config, 'agents/looker.md'), says('WORDS-of-the-user'));
};

/** Every call of a model was told these words and of the memory, and nothing that is not committed. */
const told = (calls: readonly { readonly body: string }[], words: string): void => {
  expect(calls.length).toBeGreaterThan(0);
  for (const { body } of calls) {
    expect(body).toContain(words);
    expect(body).toContain('ORRERY_MEMORY');
    expect(body).not.toContain('WORDS-that-are-not-committed');
  }
};

type Listed = { readonly name: string; readonly source: string; readonly hides: readonly string[] };

/** Every agent once, with what it hides. */
const listedAll = (listed: readonly Listed[]): void => {
  expect(listed.map((agent) => [agent.name, agent.source, agent.hides.length])).toEqual([
    ['looker', 'project', 1],
    ['loose', 'project', 0],
    ['narrow', 'claude', 0],
  ]);
};

for (const name of agentNames) {
  describe.skipIf(!isThere(name))(`an agent that is a file, with ${name}`, { timeout: 240_000 }, () => {
    const place = placeOfSuite();
    it('is told its words, and shown with where they came from', async () => {
      const model = await modelOfSuite(scriptsOf({ who: [{ text: 'It is me.' }] }));
      place.configure(configFor(model, { harness: 'command', memory: ['global'] }));
      await place.cli(['secret', 'set', 'test'], { input: 'made-up-provider-key' });
      const repository = makeRepository(place, 'shop', {});
      writeAgents(place, repository, name);
      const client = place.client(await place.up());
      const run = (...args: string[]) => place.cli([...args, '--json'], { cwd: repository });
      const ask = (agent: string) => run('run', 'Who? [who]', '--agent', agent);
      const start = (agent: string, ...more: string[]) => run('session', 'start', 'Who? [who]', '--agent', agent, ...more);

      await client.call('projectAdd', { body: { source: repository } });
      listedAll((await run('agent', 'list')).envelope().result?.['items'] as Listed[]);
      const refusals = [await start('loose'), await start('narrow'), await start('nobody'), await ask('narrow')];
      expect(refusals.map((one) => one.envelope().error?.code)).toEqual([
        'widening_refused',
        'config_invalid',
        'not_found',
        'config_invalid',
      ]);

      for (const [agent, words] of [
        ['looker', 'WORDS-of-the-project'],
        ['user:looker', 'WORDS-of-the-user'],
      ] as const) {
        const before = callsWith(model, '[who]').length;
        const done = await start(agent, '--mode', 'all', '--name', `with-${agent.replace(':', '-')}`);
        expect([done.code, done.stderr]).toEqual([0, done.stderr]);
        const calls = callsWith(model, '[who]').slice(before);
        told(calls, words);
        const session = await client.call('sessionShow', { params: { id: `with-${agent.replace(':', '-')}` } });
        const source = agent === 'looker' ? 'project' : 'user';
        expect([session.harness, session.agent?.source]).toEqual([name, source]);
        const from = callsWith(model, '[who]').length;
        const ran = (await ask(agent)).envelope().result?.['task'] as Task;
        expect([ran.verdict, ran.harness, ran.agent]).toEqual(['accepted', name, session.agent]);
        told(callsWith(model, '[who]').slice(from), words);
        expect((await place.cli(['session', 'show', session.name])).stdout).toContain(`looker (${session.agent?.source}: `);
      }
    });
  });
}
