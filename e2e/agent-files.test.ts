/** Agents as files: what a file says is what runs, in sessions with the real programs; nothing of it loosens what the person said. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Task } from '@orrery/protocol';
import type { ScriptedModel } from '@orrery/scripted-model';
import { commitAll, writeFiles } from '@orrery/testkit';
import { describe, expect, it } from 'vitest';
import { agentNames, callsWith, configFor, isThere, modelOfSuite, scriptsOf } from './support/agents.ts';
import { mcpScript, startMcpServer } from './support/mcp-server.ts';
import { placeOfSuite, type Place } from './support/place.ts';
import { makeRepository } from './support/repository.ts';

const agentFile = (front: string, words: string): string => `---\n${front}\n---\n\n${words}\n`;

/** Agents of every kind: committed, changed since, too loose, too narrow, and the user's of the same name. */
const writeAgents = (place: Place, repository: string, name: string): void => {
  const says = (text: string) => agentFile(`harness: ${name}\ndescription: looks`, text);
  const skilled = agentFile(`harness: ${name}\ndescription: looks\nskills: [poem]`, 'WORDS-of-the-project');
  writeFiles(repository, { '.orrery/agents/looker.md': skilled });
  writeFiles(repository, { '.orrery/agents/lost.md': agentFile(`harness: ${name}\nskills: [poems]`, '') });
  writeFiles(repository, { '.orrery/skills/poem/SKILL.md': agentFile('name: poem\ndescription: SKILL-of-poems', 'Rhyme.') });
  writeFiles(repository, { '.orrery/agents/loose.md': agentFile('mode: all', 'Anything goes.') });
  writeFiles(repository, { '.claude/agents/narrow.md': agentFile('tools: Read', 'Read only.') });
  // Names of tools are the program's own; Codex has no lists.
  const denied = name === 'pi' ? 'bash' : 'Bash';
  const held = `harness: ${name}\nmode: plan\nunattended: decline\negress: [example.org]\ntools: { deny: [${denied}] }`;
  writeFiles(repository, { '.orrery/agents/held.md': agentFile(name === 'pi' ? held.replace('mode: plan\n', '') : held, '') });
  writeFiles(repository, { '.orrery/agents/far.md': agentFile(`harness: ${name}\negress: [elsewhere.example]`, '') });
  // Codex has no way to an address that keeps the run token out of its settings.
  const near = '{ name: near, command: [sh, near.sh] }';
  const linked = agentFile(`harness: ${name}\nmcp: [${name === 'claude' ? 'far, ' : ''}${near}]`, '');
  writeFiles(repository, { '.orrery/agents/linked.md': linked, 'near.sh': mcpScript });
  commitAll(repository, 'agents');
  writeFiles(repository, { '.orrery/agents/looker.md': says('WORDS-that-are-not-committed') });
  mkdirSync(join(place.config, 'agents'));
  writeFileSync(join(place.config, 'agents/looker.md'), says('WORDS-of-the-user'));
};

/** Every call of a model was told these words, of the memory and of the skill of the agent, and nothing that is not committed. */
const told = (calls: readonly { readonly body: string }[], { words, skilled }: { words: string; skilled: boolean }): void => {
  expect(calls.length).toBeGreaterThan(0);
  for (const { body } of calls) {
    expect(body).toContain(words);
    expect(body).toContain('ORRERY_MEMORY');
    expect(body.includes('SKILL-of-poems')).toBe(skilled);
    expect(body).not.toContain('WORDS-that-are-not-committed');
  }
};

type Listed = { readonly name: string; readonly source: string; readonly hides: readonly string[] };

/** Every agent once, with what it hides. */
const listedAll = (listed: readonly Listed[]): void => {
  expect(listed.map((agent) => [agent.name, agent.source, agent.hides.length])).toEqual([
    ['far', 'project', 0],
    ['held', 'project', 0],
    ['linked', 'project', 0],
    ['looker', 'project', 1],
    ['loose', 'project', 0],
    ['lost', 'project', 0],
    ['narrow', 'claude', 0],
  ]);
};

type Client = ReturnType<Place['client']>;

const toolsOf = (model: ScriptedModel): string[] => callsWith(model, '[who]').flatMap(({ call }) => call?.tools ?? []);

/** Tools that are denied are not offered to the model, its hosts can be reached, and nobody is waited for; Codex is refused. */
const heldToItsFile = async (
  client: Client,
  given: { readonly start: Run; readonly tools: () => string[] },
  name: string,
): Promise<void> => {
  const mode = name === 'pi' ? ['--mode', 'all'] : [];
  const done = await given.start('held', '--name', 'held', ...mode);
  if (name === 'codex') {
    expect([done.envelope().error?.code, done.envelope().error?.message]).toEqual([
      'unsupported',
      'codex cannot be held to the tools of the agent held.',
    ]);
    return;
  }
  expect([done.code, done.stderr]).toEqual([0, done.stderr]);
  const offered = given.tools().map((tool) => tool.toLowerCase());
  expect([offered.includes('read'), offered.includes('bash')]).toEqual([true, false]);
  const session = await client.call('sessionShow', { params: { id: 'held' } });
  expect(session.unattended).toBe('decline');
  const { rules } = await client.call('egressShow', { params: { id: session.environment.id } });
  expect(rules).toContainEqual({ rule: 'example.org', decision: 'allow', from: 'task', beaten: false });
};

const CREDENTIAL = 'made-up-tracker-credential';

/** The configuration, with an MCP server that agents of the project may name. */
const withServer = async (place: Place, model: ScriptedModel) => {
  const far = await startMcpServer(CREDENTIAL);
  const mcp = { far: { url: far.url, projects: ['shop'] } };
  place.configure(configFor(model, { harness: 'command', memory: ['global'], egress: { allow: ['example.org'] }, mcp }));
  await place.cli(['secret', 'set', 'far'], { input: CREDENTIAL });
  return far;
};

/** Its servers are there: the command of its file, and the operator's, with a credential that it never sees. */
const linkedToItsServers = async (
  name: string,
  {
    ask,
    far,
    model,
  }: { readonly ask: Run; readonly far: Awaited<ReturnType<typeof startMcpServer>>; readonly model: ScriptedModel },
): Promise<void> => {
  const before = callsWith(model, '[who]').length;
  const done = (await ask('linked')).envelope();
  if (name === 'pi') {
    expect([done.error?.code, done.error?.message]).toEqual([
      'unsupported',
      'pi cannot be given the MCP servers of the agent linked: near.',
    ]);
    return;
  }
  const task = done.result?.['task'] as Task;
  expect([task.verdict, task.result?.filesChanged]).toEqual(['accepted', 1]);
  if (name === 'codex') return;
  expect([[...far.authorizations], far.methods]).toEqual([[`Bearer ${CREDENTIAL}`], expect.arrayContaining(['tools/list'])]);
  const told = callsWith(model, '[who]')
    .slice(before)
    .map(({ body }) => body);
  expect(told.join()).toContain('lookup');
  expect(told.join()).not.toContain(CREDENTIAL);
};

type Run = (...args: string[]) => ReturnType<Place['cli']>;

/** Whatever loosens, narrows what cannot be kept, is not there, or asks for more than the operator allows. */
const refusedByItsFile = async ({ start, ask }: { readonly start: Run; readonly ask: Run }): Promise<void> => {
  const refusals = [
    ...[await start('loose'), await start('narrow'), await start('nobody'), await ask('narrow'), await start('far')],
    await start('lost'),
  ];
  expect(refusals.map((one) => one.envelope().error?.code)).toEqual([
    'widening_refused',
    'config_invalid',
    'not_found',
    'config_invalid',
    'widening_refused',
    'not_found',
  ]);
};

for (const name of agentNames) {
  describe.skipIf(!isThere(name))(`an agent that is a file, with ${name}`, { timeout: 240_000 }, () => {
    const place = placeOfSuite();
    it('is told its words, and shown with where they came from', async () => {
      const model = await modelOfSuite(scriptsOf({ who: [{ text: 'It is me.' }] }));
      const far = await withServer(place, model);
      await place.cli(['secret', 'set', 'test'], { input: 'made-up-provider-key' });
      const repository = makeRepository(place, 'shop', {});
      writeAgents(place, repository, name);
      const client = place.client(await place.up());
      const run = (...args: string[]) => place.cli([...args, '--json'], { cwd: repository });
      const ask = (agent: string) => run('run', 'Who? [who]', '--agent', agent);
      const start = (agent: string, ...more: string[]) => run('session', 'start', 'Who? [who]', '--agent', agent, ...more);

      await client.call('projectAdd', { body: { source: repository } });
      listedAll((await run('agent', 'list')).envelope().result?.['items'] as Listed[]);
      await refusedByItsFile({ start, ask });
      await heldToItsFile(client, { start, tools: () => toolsOf(model) }, name);

      await linkedToItsServers(name, { ask, far, model });

      for (const [agent, words] of [
        ['looker', 'WORDS-of-the-project'],
        ['user:looker', 'WORDS-of-the-user'],
      ] as const) {
        const before = callsWith(model, '[who]').length;
        const done = await start(agent, '--mode', 'all', '--name', `with-${agent.replace(':', '-')}`);
        expect([done.code, done.stderr]).toEqual([0, done.stderr]);
        const calls = callsWith(model, '[who]').slice(before);
        const expected = { words, skilled: agent === 'looker' };
        told(calls, expected);
        const session = await client.call('sessionShow', { params: { id: `with-${agent.replace(':', '-')}` } });
        const source = agent === 'looker' ? 'project' : 'user';
        expect([session.harness, session.agent?.source]).toEqual([name, source]);
        const from = callsWith(model, '[who]').length;
        const ran = (await ask(agent)).envelope().result?.['task'] as Task;
        expect([ran.verdict, ran.harness, ran.agent]).toEqual(['accepted', name, session.agent]);
        told(callsWith(model, '[who]').slice(from), expected);
        expect((await place.cli(['session', 'show', session.name])).stdout).toContain(`looker (${session.agent?.source}: `);
      }
    });
  });
}
