/** What conversations with real agent programs hold beside words: files, plans, sub-agents, the model's window, models and commands. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@orrery/client';
import type { SessionView, TurnView } from '@orrery/protocol';
import type { ScriptedModel } from '@orrery/scripted-model';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callsWith, configFor, isThere, modelOfSuite, scriptsOf, type AgentName } from './support/agents.ts';
import { codeOf } from './support/commands.ts';
import { placeOfSuite } from './support/place.ts';
import { makeRepository } from './support/repository.ts';
import { DOT, kinds, logOf, sessionIn, turnOver } from './support/sessions.ts';
import { waitFor } from './support/wait.ts';

const SLOW = { timeout: 240_000 };

const says = (text: string) => ({ text });
const cases = {
  window: [
    { text: 'Much was said.', usage: { input: 5_000, output: 20 } },
    { text: 'More was said.', usage: { input: 6_000, output: 20 } },
    says('After that.'),
  ],
  model: [says('With one.'), says('With another.')],
};

/** What each program calls for a plan, and for a sub-agent; null: it has none. */
const tools = {
  claude: {
    plan: [
      { tool: 'TaskCreate', input: { subject: 'read the code', description: 'all of it' } },
      { tool: 'TaskUpdate', input: { taskId: '1', status: 'in_progress' } },
    ],
    agent: [
      {
        tool: 'Agent',
        input: {
          description: 'look around',
          prompt: 'SUBAGENT look [agent]',
          subagent_type: 'general-purpose',
          run_in_background: true,
        },
      },
    ],
    background: [{ tool: 'Bash', input: { command: 'sleep 300', description: 'serve it', run_in_background: true } }],
    model: 'claude-sonnet-5-5',
    effort: 'low',
  },
  codex: {
    plan: null,
    agent: null,
    background: null,
    model: 'gpt-5.5',
    effort: 'high',
  },
  pi: { plan: null, agent: null, background: null, model: null, effort: 'high' },
} as const satisfies Record<AgentName, object>;

const script = scriptsOf({
  ...cases,
  agent: [{ ...says('Nothing there.'), match: 'SUBAGENT' }, ...tools.claude.agent, says('Begun.'), says('It is back.')],
  background: [...tools.claude.background, says('It serves.')],
});

/** A case that is one of this program, or is not. */
const where = (has: boolean) => (has ? it : (_name: string, _test: () => Promise<void>): void => undefined);

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
  await client.call('projectAdd', { body: { source: repository } });
});

for (const name of ['claude', 'codex', 'pi'] as const) {
  const own = tools[name];
  describe.skipIf(!isThere(name))(`what conversations with ${name} hold`, SLOW, () => {
    afterAll(async () => {
      const { items } = await client.call('sessionList', { query: {} });
      for (const { id, state } of items) if (state !== 'ended') await client.call('sessionEnd', { params: { id }, body: {} });
    });

    /** What the conversation without a script of its own is answered from now on. */
    const plays = (steps: readonly object[]): void => model.reset({ ...script, steps });
    const toldLast = (): string | undefined => model.log().findLast(({ call }) => (call?.tools.length ?? 0) > 0)?.body;

    const begin = async (prompt?: string): Promise<SessionView> => {
      const asked = { project: repository, harness: name, mode: 'all' as const, ...(prompt === undefined ? {} : { prompt }) };
      return client.call('sessionCreate', { body: asked });
    };
    const send = async (id: string, text: string, more: object = {}): Promise<TurnView> => {
      const turn = await client.call('turnAdd', { params: { id }, body: { text, ...more } });
      return turnOver(client, id, turn.id);
    };
    let common: string | null = null;
    /** The conversation of those that need none of their own, while it is awake. */
    const talking = async (): Promise<SessionView> => {
      const now = common === null ? null : await client.call('sessionShow', { params: { id: common } });
      if (now?.state === 'idle') return now;
      const { id } = await begin();
      common = id;
      return sessionIn(client, id, ['idle']);
    };
    const first = async (id: string): Promise<TurnView> =>
      turnOver(client, id, (await client.call('turnList', { params: { id } })).items[0]!.id);
    const attach = (id: string, called: string, body: Uint8Array) =>
      client.call('attachmentAdd', { params: { id }, query: { name: called }, body });

    it('gives the model an image, whatever its name says it is', async () => {
      const { id } = await talking();
      plays([says('A red dot.')]);
      const png = Buffer.from(DOT, 'base64');
      const image = await attach(id, 'report.txt', png);
      expect([image.mediaType, image.bytes]).toEqual(['image/png', png.length]);
      const turn = await send(id, 'What is this?', { attachments: [image.id] });
      expect([turn.outcome, turn.attachments.map((one) => one.id)]).toEqual(['success', [image.id]]);
      expect(toldLast()).toContain(DOT);
      const said = kinds(await logOf(client, id), 'user').at(-1);
      const read = (attachment: string, query = {}) => client.call('attachmentRead', { params: { id, attachment }, query });
      expect(await read(image.id)).toMatchObject({ mediaType: 'image/png', base64: DOT, nextOffset: null });
      expect(await read(image.id, { offset: 1, limit: 3 })).toMatchObject({ base64: btoa('PNG'), nextOffset: 4 });
      expect(await read('fil_none')).toEqual({ state: 'missing' });
      expect(said?.attachments).toEqual([{ id: image.id, name: 'report.txt', mediaType: 'image/png', bytes: png.length }]);
    });

    it('puts another file beside the checkout, where the agent reads it', async () => {
      const { id, environment } = await talking();
      plays([{ shell: 'cat "$HOME"/attachments-*/notes.txt > seen.txt' }, says('I read it.')]);
      const file = await attach(id, '../../notes.txt', Buffer.from('what was noted'));
      expect([file.name, file.mediaType]).toEqual(['notes.txt', 'text/plain']);
      expect((await send(id, 'Read this.', { attachments: [file.id] })).outcome).toBe('success');
      const seen = join(place.data, 'environments', environment.id, 'home', `attachments-${file.id}`, 'notes.txt');
      expect(readFileSync(seen, 'utf8')).toBe('what was noted');
      expect(toldLast()).toContain(`attachments-${file.id}/notes.txt`);
    });

    it('is given files from the command line', async () => {
      const { id } = await talking();
      plays([says('The same.')]);
      const path = join(place.data, 'dot.png');
      writeFileSync(path, Buffer.from(DOT, 'base64'));
      const sent = await place.cli(['session', 'send', id, 'And this?', '--attach', path]);
      expect([sent.code, sent.stderr]).toEqual([0, expect.stringContaining('attached dot.png (image/png)')]);
      const missing = await place.cli(['session', 'send', id, 'x', '--attach', '/nowhere/at/all']);
      expect(missing.code).toBe(2);
    });

    it('takes words that begin as a command does for words', async () => {
      const { id } = await talking();
      for (const word of ['/compact', ' /clear', '\n/usage']) {
        plays([says('It is a path.')]);
        const text = `${word} is what I would have said.`;
        expect([text, (await send(id, text)).outcome, toldLast()?.includes(text.trim())]).toEqual([text, 'success', true]);
      }
    });

    it('refuses what it was not given', async () => {
      const { id } = await talking();
      expect(await codeOf(client.call('turnAdd', { params: { id }, body: { text: 'x', attachments: ['fil_none'] } }))).toBe(
        'not_found',
      );
      expect(await codeOf(client.call('turnAdd', { params: { id }, body: { text: '' } }))).toBe('empty_input');
      expect(await codeOf(attach(id, 'empty.txt', new Uint8Array(0)))).toBe('empty_input');
      const large = Buffer.concat([Buffer.from(DOT, 'base64'), Buffer.alloc(6 * 1024 * 1024)]);
      expect(await codeOf(attach(id, 'large.png', large))).toBe('input_too_large');
      expect(
        await codeOf(client.call('turnAdd', { params: { id }, body: { text: '', action: 'command', command: 'no-such' } })),
      ).toBe('unsupported');
    });

    where(name === 'claude')('runs a command that the program reported, and says what came of one that fails', async () => {
      const { id } = await talking();
      plays([]);
      const { commands } = await client.call('sessionCommands', { params: { id } });
      expect(commands.map((one) => one.name)).toContain('usage');
      const turn = await send(id, '', { action: 'command', command: 'usage' });
      expect([turn.outcome, turn.text]).toEqual(['success', '/usage']);
      expect(kinds(await logOf(client, id), 'text').at(-1)?.text).toContain('cost');
      const fresh = await begin();
      const empty = await send(fresh.id, '', { action: 'compact' });
      expect([empty.outcome, empty.reason]).toEqual(['error', expect.stringContaining('No messages to compact')]);
      expect(model.log().some(({ body }) => body.includes('/usage'))).toBe(false);
    });

    where(own.plan !== null)('tells its plan as it changes', async () => {
      const { id } = await talking();
      plays([...tools.claude.plan, says('Planned.')]);
      expect((await send(id, 'Plan it.')).outcome).toBe('success');
      const plans = kinds(await logOf(client, id), 'plan');
      expect(plans.map(({ entries }) => entries)).toEqual([
        [{ text: 'read the code', status: 'pending' }],
        [{ text: 'read the code', status: 'active' }],
      ]);
      expect((await place.cli(['session', 'log', id])).stdout).toContain('▸ read the code');
    });

    it('tells how full the window is, what it cost, and that it was summed up', async () => {
      const { id } = await begin('Talk. [window]');
      expect((await first(id)).outcome).toBe('success');
      expect((await send(id, 'Talk on.')).outcome).toBe('success');
      const full = await sessionIn(client, id, ['idle']);
      expect(full.context?.usedTokens).toBeGreaterThan(5_000);
      expect(full.context?.windowTokens).toBeGreaterThan(100_000);
      expect(full.usage).toMatchObject({ calls: 2, inputTokens: 11_000 });
      const turn = await send(id, 'keep the names', { action: 'compact' });
      if (name === 'pi') {
        // It sums up only what is long enough for it; that it was asked, and what it said, is told.
        expect([turn.outcome, turn.reason]).toEqual(['error', expect.stringContaining('Nothing to compact')]);
        return;
      }
      expect([turn.outcome, turn.action, turn.text]).toEqual(['success', 'compact', '/compact keep the names']);
      const [compacted] = kinds(await logOf(client, id), 'compacted');
      expect(compacted).toMatchObject({ trigger: 'manual', beforeTokens: expect.any(Number), afterTokens: expect.any(Number) });
      expect((await send(id, 'And now?')).outcome).toBe('success');
    });

    it('works with another model and effort from the next turn on, and says so', async () => {
      const { id } = await begin('Go. [model]');
      expect((await first(id)).outcome).toBe('success');
      const change = { effort: own.effort, ...(own.model === null ? {} : { model: own.model }) };
      await client.call('sessionSet', { params: { id }, body: change });
      expect((await send(id, 'Go on.')).outcome).toBe('success');
      const effective = await waitFor(
        'the program to say what it works with',
        async () => {
          const session = await client.call('sessionShow', { params: { id } });
          return session.effectiveEffort === own.effort ? session : null;
        },
        60_000,
      );
      if (own.model !== null) expect(effective.effectiveModel).toBe(own.model);
      const last = callsWith(model, '[model]').at(-1)!.call!;
      if (own.model !== null) expect(last.model).toBe(own.model);
      expect(last.effort).not.toBe(callsWith(model, '[model]')[0]!.call!.effort);
      if (name !== 'pi')
        expect(await codeOf(client.call('sessionSet', { params: { id }, body: { model: 'nobody/x' } }))).toBe('unsupported');
    });

    it('reports models, kept also when no program runs', async () => {
      const { id } = await talking();
      const reported = await client.call('harnessModels', { params: { id: name } });
      expect(reported.provenance).toBe('live');
      expect(reported.models.every((one) => one.id === `${one.provider}/${one.model}`)).toBe(true);
      expect(reported.models.length).toBeGreaterThan(0);
      await client.call('sessionClose', { params: { id }, body: {} });
      await sessionIn(client, id, ['dormant']);
      expect((await client.call('sessionCommands', { params: { id } })).provenance).toBe('cached');
      const shown = await place.cli(['harness', 'models', name]);
      expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining(reported.models[0]!.id)]);
    });

    where(own.agent !== null)('puts what a sub-agent does under its name, and tells its end', async () => {
      const { id } = await begin('Delegate. [agent]');
      expect((await first(id)).outcome).toBe('success');
      const log = await waitFor(
        'the sub-agent to end',
        async () => {
          const events = await logOf(client, id);
          return kinds(events, 'agent').some(({ state }) => state === 'completed') ? events : null;
        },
        60_000,
      );
      const [begun, ended] = kinds(log, 'agent');
      expect([begun?.name, begun?.state, ended?.row]).toEqual(['look around', 'running', begun?.row]);
      const theirs = kinds(log, 'text').filter(({ agent }) => agent !== undefined);
      expect(theirs.map(({ text, agent }) => [text, agent])).toEqual([['Nothing there.', begun?.row]]);
    });

    where(own.background !== null)('leaves no background command active when its program ends', async () => {
      const { id } = await begin('Serve. [background]');
      expect((await first(id)).outcome).toBe('success');
      expect(kinds(await logOf(client, id), 'background').map(({ state }) => state)).toEqual(['running']);
      await client.call('sessionClose', { params: { id }, body: {} });
      await sessionIn(client, id, ['dormant']);
      const ended = kinds(await logOf(client, id), 'background').at(-1);
      expect(ended?.name).toBe('serve it');
      expect(['stopped', 'detached', 'failed']).toContain(ended?.state);
    });
  });
}
