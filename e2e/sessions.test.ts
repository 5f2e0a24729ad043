/** Conversations with real agent programs on a real node: turns, approvals, steers, stops, sleep, and what a crash leaves. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@orrery/client';
import type { SessionView } from '@orrery/protocol';
import type { ScriptedModel } from '@orrery/scripted-model';
import { beforeAll, describe, expect, it } from 'vitest';
import { callsWith, configFor, isThere, modelOfSuite, scriptsOf, type TalkerName } from './support/agents.ts';
import { codeOf } from './support/commands.ts';
import type { Life } from './support/life.ts';
import { placeOfSuite } from './support/place.ts';
import { makeRepository } from './support/repository.ts';
import { logOf, sessionIn, texts, turnOver } from './support/sessions.ts';
import { waitFor } from './support/wait.ts';

const SLOW = { timeout: 240_000 };

/**
 * Programs that hold conversations: whether each asks before it acts, and takes words into a turn that runs. `refused` is what
 * one says that ends its turn when something is denied; the others let their model go on.
 */
type Talker = {
  readonly name: TalkerName;
  readonly asks: boolean;
  readonly steers: boolean;
  readonly refused?: readonly string[];
};
const talkers: readonly Talker[] = [
  { name: 'claude', asks: true, steers: true },
  { name: 'codex', asks: true, steers: true },
  { name: 'pi', asks: false, steers: true },
  { name: 'opencode', asks: true, steers: false, refused: [] },
  { name: 'gemini', asks: true, steers: false },
  { name: 'copilot', asks: true, steers: false, refused: ['Info: Operation cancelled by user'] },
  { name: 'qwen', asks: true, steers: false, refused: [] },
];

const cases = {
  talk: [{ text: 'First answer.' }, { text: 'Second answer.' }, { text: 'Third answer, after sleep.' }],
  allow: [{ shell: 'echo allowed > allowed.txt' }, { text: 'It was allowed.' }, { text: 'Nothing more.' }],
  deny: [{ shell: 'echo denied > denied.txt' }, { text: 'It was not allowed.' }],
  all: [{ shell: 'echo all > all.txt' }, { text: 'Nobody was asked.' }],
  steer: [{ shell: 'until [ -e "$HOME/go" ]; do sleep 0.1; done' }, { text: 'I heard it.' }, { text: 'Later.' }],
  stop: [{ shell: 'until [ -e "$HOME/never" ]; do sleep 0.1; done' }, { text: 'never' }, { text: 'Another turn.' }],
  crash: [{ shell: 'until [ -e "$HOME/go" ]; do sleep 0.1; done' }, { text: 'Over the crash.' }, { text: 'Then this.' }],
};

/** A case that is not one of this program. */
const notOfIt = (_name: string, _test: () => Promise<void>): void => undefined;

for (const { name, asks, steers, refused } of talkers) {
  describe.skipIf(!isThere(name))(`sessions with ${name}`, SLOW, () => {
    const place = placeOfSuite();
    let model: ScriptedModel;
    let life: Life;
    let client: Client;
    let repository: string;

    beforeAll(async () => {
      model = await modelOfSuite(scriptsOf(cases));
      place.configure(configFor(model, { harness: name }));
      await place.cli(['secret', 'set', 'test'], { input: 'made-up-provider-key' });
      life = await place.up();
      client = place.client(life);
      repository = makeRepository(place, 'talked-about', {});
      await client.call('projectAdd', { body: { source: repository } });
    });

    const start = async (kind: string, more: object = {}): Promise<SessionView> =>
      client.call('sessionCreate', {
        body: { project: repository, mode: asks ? 'ask' : 'all', prompt: `Do it. [${kind}] MARKER-${kind}-1`, ...more },
      });

    const send = (id: string, text: string, more: object = {}) =>
      client.call('turnAdd', { params: { id }, body: { text, ...more } });

    const firstTurn = async (id: string) => (await client.call('turnList', { params: { id } })).items[0]!.id;

    it('holds a conversation over turns, sleeps, and wakes with the same conversation', async () => {
      const { id } = await start('talk');
      const one = await turnOver(client, id, await firstTurn(id));
      expect([one.outcome, one.turn]).toEqual(['success', 1]);
      const again = await send(id, 'And then? MARKER-talk-2', { requestId: 'second' });
      expect((await send(id, 'And then? MARKER-talk-2', { requestId: 'second' })).replayed).toBe(true);
      expect(await codeOf(send(id, 'Something else', { requestId: 'second' }))).toBe('request_conflict');
      expect((await turnOver(client, id, again.id)).outcome).toBe('success');
      const awake = await sessionIn(client, id, ['idle']);
      await client.call('sessionClose', { params: { id }, body: {} });
      const asleep = await sessionIn(client, id, ['dormant']);
      expect([asleep.conversation, asleep.generation]).toEqual([awake.conversation, 1]);
      const third = await send(id, 'Still there? MARKER-talk-3');
      // One program cannot take it up again in the minute in which it began: the node waits until it can.
      expect((await turnOver(client, id, third.id)).outcome).toBe('success');
      expect(texts(await logOf(client, id))).toEqual(['First answer.', 'Second answer.', 'Third answer, after sleep.']);
      expect(model.promptCounts()).toMatchObject({ 'MARKER-talk-1': 1, 'MARKER-talk-2': 1, 'MARKER-talk-3': 1 });
      const last = callsWith(model, '[talk]').at(-1)!;
      expect(last.body).toContain('MARKER-talk-2');
      const log = await logOf(client, id);
      expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, index) => index + 1));
      await client.call('sessionEnd', { params: { id }, body: {} });
      expect((await sessionIn(client, id, ['ended'])).endedAt).not.toBeNull();
      expect(await codeOf(send(id, 'too late'))).toBe('conflict');
    });

    const hasFile = async ({ environment }: SessionView, file: string): Promise<boolean> => {
      const { workdir } = await client.call('environmentShow', { params: { id: environment.id } });
      return existsSync(join(workdir ?? '/nowhere', file));
    };

    const whereItAsks = asks ? it : notOfIt;
    const whereItDoesNot = asks ? notOfIt : it;

    whereItAsks('asks, and does what it was allowed and nothing else', async () => {
      const [allow, deny] = [await start('allow'), await start('deny')];
      for (const [{ id }, outcome] of [
        [allow, 'approved'],
        [deny, 'denied'],
      ] as const) {
        await sessionIn(client, id, ['waiting']);
        const { items } = await client.call('interactionList', { query: { session: id } });
        expect(items.map(({ ask }) => [ask.kind, ask.command])).toEqual([['command', expect.stringContaining('echo ')]]);
        const [asked] = items;
        expect(
          await codeOf(client.call('interactionAnswer', { params: { id: asked!.id }, body: { revision: 2, outcome } })),
        ).toBe('conflict');
        await client.call('interactionAnswer', { params: { id: asked!.id }, body: { revision: asked!.revision, outcome } });
        expect(
          await codeOf(
            client.call('interactionAnswer', { params: { id: asked!.id }, body: { revision: 1, outcome: 'approved' } }),
          ),
        ).toBe('conflict');
        expect((await turnOver(client, id, await firstTurn(id))).outcome).toBe('success');
      }
      expect(texts(await logOf(client, allow.id))).toEqual(['It was allowed.']);
      expect(await hasFile(allow, 'allowed.txt')).toBe(true);
      expect(await hasFile(deny, 'denied.txt')).toBe(false);
      const told = texts(await logOf(client, deny.id));
      if (refused === undefined) return expect(told).toEqual(['It was not allowed.']);
      // Its turn ended there; the conversation goes on with the next input, and what was denied is not done then either.
      expect(told).toEqual(refused);
      const next = await send(deny.id, 'Go on without it.');
      expect((await turnOver(client, deny.id, next.id)).outcome).toBe('success');
      expect(texts(await logOf(client, deny.id))).toEqual([...refused, 'It was not allowed.']);
      expect(await hasFile(deny, 'denied.txt')).toBe(false);
    });

    it('asks nobody where the person said so', async () => {
      const { id } = await start('all', { mode: 'all' });
      expect((await turnOver(client, id, await firstTurn(id))).outcome).toBe('success');
      const { items } = await client.call('interactionList', { query: { session: id, all: 'true' } });
      if (!asks) return expect(items).toEqual([]);
      expect(items.map(({ outcome, by }) => [outcome, by])).toEqual([['approved', 'mode "all"']]);
    });

    const toolRuns = (id: string): Promise<unknown> =>
      waitFor('the tool', async () => (await logOf(client, id)).find(({ body }) => body.kind === 'tool.call') ?? null, 120_000);

    /** What the tool of a case waits for. */
    const letGo = ({ environment }: SessionView): void =>
      writeFileSync(join(place.data, 'environments', environment.id, 'home', 'go'), '');

    const whereItSteers = steers ? it : notOfIt;
    const whereItDoesNotSteer = steers ? notOfIt : it;

    whereItDoesNotSteer('is refused words into the turn that runs; what is queued comes after it', async () => {
      const session = await start('steer', { mode: 'all' });
      const { id } = session;
      await toolRuns(id);
      expect(await codeOf(send(id, 'Leave the docs alone.', { kind: 'steer' }))).toBe('unsupported');
      const queued = await send(id, 'And later this. MARKER-steer-3');
      letGo(session);
      expect((await turnOver(client, id, await firstTurn(id))).outcome).toBe('success');
      expect((await turnOver(client, id, queued.id)).turn).toBe(2);
      expect(texts(await logOf(client, id))).toEqual(['I heard it.', 'Later.']);
      expect(model.promptCounts()).toMatchObject({ 'MARKER-steer-1': 1, 'MARKER-steer-3': 1 });
    });

    whereItSteers('takes words into the turn that runs', async () => {
      const session = await start('steer', { mode: 'all' });
      const { id } = session;
      await toolRuns(id);
      const steer = await send(id, 'Leave the docs alone. MARKER-steer-2', { kind: 'steer' });
      const queued = await send(id, 'And later this. MARKER-steer-3');
      letGo(session);
      expect((await turnOver(client, id, await firstTurn(id))).outcome).toBe('success');
      const heard = await turnOver(client, id, steer.id);
      expect([heard.outcome, heard.turn]).toEqual(['success', 1]);
      expect((await turnOver(client, id, queued.id)).turn).toBe(2);
      expect(model.promptCounts()).toMatchObject({ 'MARKER-steer-2': 1, 'MARKER-steer-3': 1 });
      expect(await codeOf(send(id, 'nothing runs', { kind: 'steer' }))).toBe('conflict');
    });

    it('goes on after the node was killed in the middle of a turn: nothing lost, nothing sent twice', async () => {
      const session = await start('crash', { mode: 'all' });
      const { id } = session;
      await toolRuns(id);
      const queued = await send(id, 'And then? MARKER-crash-2');
      await life.kill();
      life = await place.up();
      client = place.client(life);
      expect((await client.call('sessionShow', { params: { id } })).state).toBe('running');
      letGo(session);
      expect((await turnOver(client, id, await firstTurn(id))).outcome).toBe('success');
      expect((await turnOver(client, id, queued.id)).outcome).toBe('success');
      expect((await sessionIn(client, id, ['idle'])).generation).toBe(1);
      expect(model.promptCounts()).toMatchObject({ 'MARKER-crash-1': 1, 'MARKER-crash-2': 1 });
      const log = await logOf(client, id);
      expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, index) => index + 1));
      expect(texts(log)[0]).toBe('Over the crash.');
    });

    whereItDoesNot('is refused a mode that it cannot keep', async () => {
      expect(await codeOf(start('talk', { mode: 'ask' }))).toBe('unsupported');
    });

    whereItAsks('is held from the command line', async () => {
      const asked = await place.cli([
        'session',
        'start',
        'Do it. [allow] again',
        '--project',
        repository,
        '--name',
        'typed',
        '--json',
      ]);
      expect([asked.code, JSON.parse(asked.stdout).error.code]).toEqual([6, 'interaction_required']);
      const [open] = JSON.parse((await place.cli(['session', 'interactions', 'typed', '--json'])).stdout).result.items;
      expect((await place.cli(['session', 'answer', open.id, 'approve'])).code).toBe(0);
      await sessionIn(client, 'typed', ['idle']);
      const shown = await place.cli(['session', 'log', 'typed']);
      expect(shown.stdout).toContain('It was allowed.');
      const more = await place.cli(['session', 'send', 'typed', 'And then?']);
      expect([more.code, more.stderr]).toEqual([0, more.stderr]);
      expect((await place.cli(['session', 'end', 'typed'])).code).toBe(0);
    });

    it('wakes also when nothing was said before it slept', async () => {
      const { id } = await client.call('sessionCreate', { body: { project: repository, mode: asks ? 'ask' : 'all' } });
      await sessionIn(client, id, ['idle']);
      await client.call('sessionClose', { params: { id }, body: {} });
      await sessionIn(client, id, ['dormant']);
      const { id: first } = await send(id, 'Now say something. [talk] MARKER-late');
      expect((await turnOver(client, id, first)).outcome).toBe('success');
      expect(texts(await logOf(client, id))).toEqual(['First answer.']);
    });

    it('is stopped in the middle of a tool, and goes on with the next turn', async () => {
      const { id } = await start('stop', { mode: 'all' });
      await toolRuns(id);
      await client.call('sessionInterrupt', { params: { id }, body: {} });
      expect((await turnOver(client, id, await firstTurn(id))).outcome).toBe('cancelled');
      const next = await send(id, 'Another one.');
      expect((await turnOver(client, id, next.id)).outcome).toBe('success');
    });
  });
}
