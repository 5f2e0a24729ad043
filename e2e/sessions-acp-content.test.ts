/** What conversations over the Agent Client Protocol hold beside words: images, the model's window, words that look like commands, summing up. */
import type { Client } from '@orrery/client';
import type { TurnView } from '@orrery/protocol';
import type { ScriptedModel } from '@orrery/scripted-model';
import { commitAll, writeFiles } from '@orrery/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acpNames, configFor, isThere, modelOfSuite, scriptsOf } from './support/agents.ts';
import { codeOf } from './support/commands.ts';
import { placeOfSuite } from './support/place.ts';
import { makeRepository } from './support/repository.ts';
import { DOT, kinds, logOf, turnOver } from './support/sessions.ts';

const SLOW = { timeout: 240_000 };
const says = (text: string) => ({ text });
const script = scriptsOf({});
/** What each program calls looking at a file and a command; null: it cannot be held to lists. */
const tools = {
  opencode: { look: 'read', shell: 'bash', hidden: ['bash', 'edit', 'write'] },
  gemini: { look: 'read_file', shell: 'run_shell_command', hidden: ['run_shell_command', 'write_file', 'replace'] },
  copilot: { look: 'view', shell: 'bash', hidden: ['bash', 'apply_patch'] },
  qwen: null,
} as const;

const place = placeOfSuite();
let model: ScriptedModel;
let client: Client;
let repository: string;

beforeAll(async () => {
  model = await modelOfSuite(script);
  place.configure(configFor(model));
  await place.cli(['secret', 'set', 'test'], { input: 'made-up-provider-key' });
  client = place.client(await place.up());
  repository = makeRepository(place, 'talked-about', {});
  for (const [name, own] of Object.entries(tools)) {
    const front = `harness: ${name}\nunattended: decline`;
    const { look, shell } = own ?? { look: 'read_file', shell: 'run_shell_command' };
    writeFiles(repository, {
      [`.orrery/agents/${name}-looks.md`]: `---\n${front}\ntools: [${look}]\n---\n`,
      [`.orrery/agents/${name}-runs-nothing.md`]: `---\n${front}\ntools: { deny: [${shell}] }\n---\n`,
    });
  }
  commitAll(repository, 'agents');
  await client.call('projectAdd', { body: { source: repository } });
});

/** The order to sum up, by the program's own name; null: it takes none over the protocol. */
const summingUp = { opencode: null, gemini: null, copilot: '/compact', qwen: '/compress' } as const;

for (const name of acpNames)
  describe.skipIf(!isThere(name))(`what conversations with ${name} hold`, SLOW, () => {
    let id: string;
    const send = async (text: string, more: object = {}): Promise<TurnView> => {
      const turn = await client.call('turnAdd', { params: { id }, body: { text, ...more } });
      return turnOver(client, id, turn.id);
    };
    const plays = (...steps: readonly object[]): void => model.reset({ ...script, steps });
    const told = (text: string): boolean => model.log().some(({ body }) => body.includes(text));

    beforeAll(async () => {
      id = (await client.call('sessionCreate', { body: { project: repository, harness: name, mode: 'all' } })).id;
    });
    afterAll(async () => {
      await client.call('sessionEnd', { params: { id }, body: {} });
    });

    it('gives the model an image, and tells how full the window is where the program says so', async () => {
      plays(says('Ready.'), says('A red dot.'));
      const body = Buffer.from(DOT, 'base64');
      const image = await client.call('attachmentAdd', { params: { id }, query: { name: 'dot.png' }, body });
      expect((await send('What is this?', { attachments: [image.id] })).outcome).toBe('success');
      expect(told(DOT)).toBe(true);
      const harness = (await client.call('harnessList', {})).items.find((one) => one.id === name);
      const can = harness?.capabilities['sessions'];
      expect(can).toContain('images');
      expect(can).toEqual(name === 'gemini' ? expect.not.arrayContaining(['context']) : expect.arrayContaining(['context']));
      expect(kinds(await logOf(client, id), 'context').length > 0).toBe(name !== 'gemini');
    });

    it('takes words that begin as a command does for words', async () => {
      for (const word of [summingUp[name] ?? '/init', ' /init', '\n/allow-all', '//']) {
        plays(says('It is a path.'));
        const text = `${word} is what I would have said.`;
        expect([text, (await send(text)).outcome, told(text.trim())]).toEqual([text, 'success', true]);
        expect(kinds(await logOf(client, id), 'text').at(-1)?.text).toBe('It is a path.');
      }
    });

    it('is summed up where its program takes the order, and says what came of it', async () => {
      plays(says('A summary.'), says('A summary.'));
      const own = summingUp[name];
      if (own === null) return expect(await codeOf(send('', { action: 'compact' }))).toBe('unsupported');
      const turn = await send('', { action: 'compact' });
      expect([turn.action, turn.text]).toEqual(['compact', '/compact']);
      // Qwen Code sums up only what becomes shorter by it; that it was asked, and what it said, is told.
      if (name === 'qwen') expect([turn.outcome, turn.reason]).toEqual(['error', expect.stringContaining('Compression')]);
      else expect(kinds(await logOf(client, id), 'text').at(-1)?.text).toMatch(/compact/i);
      expect(told(`"${own}"`)).toBe(false);
      expect(await codeOf(send('', { action: 'command', command: 'allow-all' }))).toBe('unsupported');
    });

    it('is held to the tools of its agent, whatever its model calls', async () => {
      const own = tools[name];
      const begin = (agent: string) =>
        client.call('sessionCreate', { body: { project: repository, agent: `${name}-${agent}`, mode: 'all' } });
      if (own === null) return expect(await codeOf(begin('looks'))).toBe('unsupported');
      // Only OpenCode has two ways to write a list down.
      for (const agent of name === 'opencode' ? ['looks', 'runs-nothing'] : ['looks']) {
        plays({ tool: own.shell, input: { command: 'touch owned', description: 'makes it' } }, says('Done.'), says('Done.'));
        const held = await begin(agent);
        const turn = await client.call('turnAdd', { params: { id: held.id }, body: { text: 'Run it.' } });
        await turnOver(client, held.id, turn.id);
        const offered = model.log().flatMap(({ call }) => call?.tools ?? []);
        expect(offered).toContain(own.look);
        expect(
          offered.filter((tool) => (agent === 'looks' ? own.hidden : [own.shell]).some((hidden) => hidden === tool)),
        ).toEqual([]);
        const { files } = await client.call('sessionChanges', { params: { id: held.id }, query: {} });
        expect(files.map(({ path }) => path)).toEqual([]);
        await client.call('sessionEnd', { params: { id: held.id }, body: {} });
      }
    });
  });
