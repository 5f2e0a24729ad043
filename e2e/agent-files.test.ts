/** Agents as files: what a file says is what runs, in sessions with the real programs; nothing of it loosens what the person said. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
      const start = (agent: string, ...more: string[]) => run('session', 'start', 'Who? [who]', '--agent', agent, ...more);

      await client.call('projectAdd', { body: { source: repository } });
      const listed = (await run('agent', 'list')).envelope().result?.['items'] as {
        name: string;
        source: string;
        hides: string[];
      }[];
      expect(listed.map((agent) => [agent.name, agent.source, agent.hides.length])).toEqual([
        ['looker', 'project', 1],
        ['loose', 'project', 0],
        ['narrow', 'claude', 0],
      ]);
      const refusals = [await start('loose'), await start('narrow'), await start('nobody')];
      expect(refusals.map((one) => one.envelope().error?.code)).toEqual(['widening_refused', 'config_invalid', 'not_found']);

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
        expect((await place.cli(['session', 'show', session.name])).stdout).toContain(`looker (${session.agent?.source}: `);
      }
    });
  });
}
