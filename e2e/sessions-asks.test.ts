/** What real agent programs ask of people: several questions at once, plans, words for a refusal, and nobody there. */
import { createClient, type Client } from '@orrery/client';
import type { InteractionView, SessionView } from '@orrery/protocol';
import type { ScriptedModel } from '@orrery/scripted-model';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callsWith, configFor, isThere, modelOfSuite, scriptsOf, type AgentName } from './support/agents.ts';
import { codeOf } from './support/commands.ts';
import type { Life } from './support/life.ts';
import { placeOfSuite } from './support/place.ts';
import { makeRepository } from './support/repository.ts';
import { logOf, sessionIn, texts, turnOver } from './support/sessions.ts';
import { waitFor } from './support/wait.ts';

const SLOW = { timeout: 240_000 };

const questions = [
  {
    ...{ question: 'Which colour should it be?', header: 'Colour', multiSelect: false },
    options: [
      { label: 'Blue', description: 'As the sky' },
      { label: 'Red', description: 'As a brick' },
    ],
  },
  {
    ...{ question: 'Which parts are to be painted?', header: 'Parts', multiSelect: true },
    options: [
      { label: 'Door', description: 'The front one' },
      { label: 'Roof', description: 'All of it' },
      { label: 'Wall', description: 'To the north' },
    ],
  },
];
const plan = `Paint it.\n\n${Array.from({ length: 60 }, (_, at) => `${at + 1}. Paint part number ${at + 1} of the house.`).join('\n')}`;

const cases = {
  several: [{ tool: 'AskUserQuestion', input: { questions } }, { text: 'I know now.' }],
  alone: [{ tool: 'AskUserQuestion', input: { questions } }, { text: 'I decided myself.' }],
  words: [{ shell: 'echo words > words.txt' }, { text: 'I read why.' }],
  rule: [
    { shell: 'echo ruled > ruled.txt' },
    { shell: 'echo ruled > ruled.txt' },
    { shell: 'echo ruled > ruled.txt; echo more > more.txt' },
    { text: 'Twice by a rule.' },
  ],
  decline: [{ shell: 'echo decline > decline.txt' }, { text: 'I went on without.' }],
  fail: [{ shell: 'echo fail > fail.txt' }, { text: 'never' }, { text: 'A later turn.' }],
};

const place = placeOfSuite();
let model: ScriptedModel;
let life: Life;
let client: Client;
let repository: string;

beforeAll(async () => {
  model = await modelOfSuite(scriptsOf(cases));
  place.configure(configFor(model));
  await place.cli(['secret', 'set', 'test'], { input: 'made-up-provider-key' });
  life = await place.up();
  client = place.client(life);
  repository = makeRepository(place, 'asked-about', {});
  await client.call('projectAdd', { body: { source: repository } });
});

for (const name of ['claude', 'codex'] as const satisfies readonly AgentName[]) {
  describe.skipIf(!isThere(name))(`what ${name} asks`, SLOW, () => {
    beforeAll(() => model.reset(scriptsOf(cases)));
    afterAll(async () => {
      const { items } = await client.call('sessionList', { query: {} });
      for (const { id, state } of items) if (state !== 'ended') await client.call('sessionEnd', { params: { id }, body: {} });
    });

    const start = (kind: string, more: object = {}): Promise<SessionView> =>
      client.call('sessionCreate', {
        body: { project: repository, harness: name, mode: 'ask', prompt: `Do it. [${kind}]`, ...more },
      });
    const firstTurn = async (id: string) => (await client.call('turnList', { params: { id } })).items[0]!.id;
    const asked = (id: string, kind: InteractionView['ask']['kind']): Promise<InteractionView> =>
      waitFor(
        `a ${kind} of ${id}`,
        async () => {
          const { items } = await client.call('interactionList', { query: { session: id } });
          return items.find(({ ask }) => ask.kind === kind) ?? null;
        },
        120_000,
      );
    const answer = ({ id, revision }: InteractionView, body: object) =>
      client.call('interactionAnswer', { params: { id }, body: { revision, outcome: 'answered', ...body } });
    const lastBody = (kind: string): string => callsWith(model, `[${kind}]`).at(-1)!.body;

    const ofClaude = name === 'claude' ? it : (_name: string, _test: () => Promise<void>): void => undefined;

    ofClaude('several questions are answered at once, and what does not fit is refused', async () => {
      const { id } = await start('several');
      const open = await asked(id, 'question');
      expect(open.ask.questions.map(({ key, header, several }) => [key, header, several])).toEqual([
        ['q1', 'Colour', false],
        ['q2', 'Parts', true],
      ]);
      expect(await codeOf(answer(open, { answers: { q1: 'Blue' } }))).toBe('invalid_input');
      expect(await codeOf(answer(open, { answers: { q1: 'Blue', q2: 'Door' } }))).toBe('invalid_input');
      expect(await codeOf(answer(open, { outcome: 'approved' }))).toBe('invalid_input');
      const shown = await place.cli(['session', 'interactions', id]);
      expect(shown.stdout).toContain('2. Red');
      const said = await place.cli([
        ...['session', 'answer', open.id, '--answer', 'q1=a colour of my own', '--answer', 'q2=Door', '--answer', 'q2=Wall'],
      ]);
      expect([said.code, said.stderr]).toEqual([0, said.stderr]);
      expect((await turnOver(client, id, await firstTurn(id))).outcome).toBe('success');
      expect(texts(await logOf(client, id))).toEqual(['I know now.']);
      expect(lastBody('several')).toContain('a colour of my own');
      expect(lastBody('several')).toContain('Door, Wall');
    });

    ofClaude('a plan is shown whole, approved with a mode to go on in, or denied with words', async () => {
      /** It keeps its plan in a file of its own, whose name it tells the model. */
      const planned = async (rest: readonly object[]): Promise<string> => {
        model.push([{ text: 'Tell me more.' }]);
        const { id } = await start('none', { mode: 'plan', prompt: `Plan it, number ${rest.length}.` });
        await turnOver(client, id, await firstTurn(id));
        const path = /\/[^"\s]+\/plans\/[\w-]+\.md/.exec(callsWith(model, `number ${rest.length}.`).at(-1)!.body)![0];
        model.push([{ write: { path, content: plan, fresh: true } }, { tool: 'ExitPlanMode', input: {} }, ...rest]);
        await client.call('turnAdd', { params: { id }, body: { text: 'Go on.' } });
        return id;
      };
      const id = await planned([{ shell: 'echo painted > painted.txt' }, { text: 'Painted.' }]);
      const open = await asked(id, 'plan');
      expect(open.ask.detail).toContain('60. Paint part number 60');
      await answer(open, { outcome: 'approved', mode: 'all' });
      await sessionIn(client, id, ['idle']);
      expect((await client.call('sessionShow', { params: { id } })).mode).toBe('all');
      expect(texts(await logOf(client, id)).at(-1)).toBe('Painted.');
      const other = await planned([{ text: 'Then not.' }]);
      await answer(await asked(other, 'plan'), { outcome: 'denied', message: 'leave the roof out' });
      expect((await sessionIn(client, other, ['idle'])).mode).toBe('plan');
      expect(callsWith(model, 'number 1.').at(-1)!.body).toContain('leave the roof out');
    });

    it('the agent reads why something was denied', async () => {
      const { id } = await start('words');
      await answer(await asked(id, 'command'), { outcome: 'denied', message: 'only on Tuesdays' });
      expect((await turnOver(client, id, await firstTurn(id))).outcome).toBe('success');
      expect(texts(await logOf(client, id))).toEqual(['I read why.']);
      expect(lastBody('words')).toContain('only on Tuesdays');
    });

    it('what a person allowed by a rule is not asked again, and a longer command is', async () => {
      const { id } = await start('rule');
      const open = await asked(id, 'command');
      const params = { id: open.id };
      const { rule } = await client.call('policyPropose', { params });
      const body = { revision: open.revision, yaml: rule!.yaml };
      const made = await client.call('tokenCreate', { body: { name: `agent-${name}`, scope: 'operator' } });
      expect(await codeOf(createClient({ url: life.url, token: made.token }).call('policyAdd', { params, body }))).toBe(
        'forbidden',
      );
      expect((await place.cli(['policy', 'propose', open.id, '--add'])).code).toBe(6);
      expect((await client.call('policyAdd', { params, body })).interaction.outcome).toBe('approved');
      const longer = await waitFor('the longer command', async () => {
        const { items } = await client.call('interactionList', { query: { session: id } });
        return items.find(({ ask }) => ask.command?.includes('more.txt')) ?? null;
      });
      const { items } = await client.call('interactionList', { query: { session: id, all: 'true' } });
      const by = `rule:${rule!.name}`;
      expect(items.map(({ outcome, by: who }) => [outcome, who])).toEqual([
        ...[
          ['approved', 'owner'],
          ['approved', by],
          [null, null],
        ],
      ]);
      const why = await place.cli(['policy', 'test', '--interaction', items[1]!.id]);
      expect(why.stdout).toContain(`It is allowed by ${rule!.name}.`);
      const { items: records } = await client.call('auditList', { query: { actor: by } });
      expect(records.map(({ action, subject }) => [action, subject])).toEqual([['approval.allow', items[1]!.id]]);
      await answer(longer, { outcome: 'denied' });
      expect((await turnOver(client, id, await firstTurn(id))).outcome).toBe('success');
      expect(texts(await logOf(client, id))).toEqual(['Twice by a rule.']);
    });

    it('where nobody is there it goes on without, or the turn fails, as was declared', async () => {
      const { id } = await start('decline', { unattended: 'decline' });
      expect((await turnOver(client, id, await firstTurn(id))).outcome).toBe('success');
      const { items } = await client.call('interactionList', { query: { session: id, all: 'true' } });
      expect(items.map(({ outcome, by }) => [outcome, by])).toEqual([['denied', 'rule "unattended decline"']]);
      expect(lastBody('decline')).toContain('Nobody is there to allow it');
      const failing = await start('fail');
      await asked(failing.id, 'command');
      await client.call('sessionSet', { params: { id: failing.id }, body: { unattended: 'fail' } });
      const over = await turnOver(client, failing.id, await firstTurn(failing.id));
      expect([over.outcome, over.reason]).toEqual(['error', expect.stringContaining('nobody was there')]);
      await sessionIn(client, failing.id, ['idle']);
    });

    ofClaude('questions are declined at once where nobody is there, whatever becomes of permissions', async () => {
      const { id } = await start('alone', { unattended: 'fail' });
      expect((await turnOver(client, id, await firstTurn(id))).outcome).toBe('success');
      expect(texts(await logOf(client, id))).toEqual(['I decided myself.']);
      expect(lastBody('alone')).toContain('Nobody is there to answer');
    });
  });
}
