/** Conversations with real agent programs on a real node: turns, approvals, steers, stops, sleep, and what a crash leaves. Each program starts as seldom as that can be shown. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@orrery/client';
import type { SessionView } from '@orrery/protocol';
import type { ScriptedModel } from '@orrery/scripted-model';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configFor, isThere, modelOfSuite, type TalkerName } from './support/agents.ts';
import { codeOf } from './support/commands.ts';
import type { Life } from './support/life.ts';
import { partingSteps, partsAndGoesOn } from './support/parting.ts';
import { placeOfSuite } from './support/place.ts';
import { makeRepository } from './support/repository.ts';
import { logOf, sessionIn, texts, turnOver } from './support/sessions.ts';
import { pause, waitFor } from './support/wait.ts';

const SLOW = { timeout: 240_000 };

/**
 * Programs that hold conversations: whether each asks before it acts, and takes words into a turn that runs; what a fork of
 * it goes on with. `refused` is what
 * one says that ends its turn when something is denied; the others let their model go on.
 */
type Talker = {
  readonly name: TalkerName;
  readonly asks: boolean;
  readonly steers: boolean;
  readonly forks: SessionView['forks'];
  readonly refused?: readonly string[];
};
const talkers: readonly Talker[] = [
  { name: 'claude', forks: 'native', asks: true, steers: true },
  { name: 'codex', forks: 'native', asks: true, steers: true },
  { name: 'pi', forks: 'native', asks: false, steers: true },
  { name: 'opencode', forks: 'record', asks: true, steers: false, refused: [] },
  { name: 'gemini', forks: 'record', asks: true, steers: false },
  { name: 'copilot', forks: 'record', asks: true, steers: false, refused: ['Info: Operation cancelled by user'] },
  { name: 'qwen', forks: 'record', asks: true, steers: false, refused: [] },
];

/** A case that is not one of this program. */
const notOfIt = (_name: string, _test: () => Promise<void>): void => undefined;

const place = placeOfSuite();
let model: ScriptedModel;
let life: Life;
let client: Client;
let repository: string;

const up = async (): Promise<void> => {
  life = await place.up();
  client = place.client(life);
};

beforeAll(async () => {
  model = await modelOfSuite([]);
  place.configure(configFor(model));
  await place.cli(['secret', 'set', 'test'], { input: 'made-up-provider-key' });
  await up();
  repository = makeRepository(place, 'talked-about', {});
  await client.call('projectAdd', { body: { source: repository } });
});

const send = (id: string, text: string, more: object = {}) => client.call('turnAdd', { params: { id }, body: { text, ...more } });

const succeeds = async (id: string, turn: string): Promise<void> =>
  expect((await turnOver(client, id, turn)).outcome).toBe('success');

/** What was said since then. */
const saidSince = async ({ id, sequence }: SessionView): Promise<string[]> =>
  texts((await logOf(client, id)).filter((event) => event.sequence! > sequence));

const isGapless = async (id: string): Promise<void> => {
  const log = await logOf(client, id);
  expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, index) => index + 1));
};

const hasFile = async ({ environment }: SessionView, file: string): Promise<boolean> => {
  const { workdir } = await client.call('environmentShow', { params: { id: environment.id } });
  return existsSync(join(workdir ?? '/nowhere', file));
};

/** A command that runs until it is let go. */
const waiting = (kind: string): object => ({ shell: `until [ -e "$HOME/go-${kind}" ]; do sleep 0.1; done` });

const letGo = ({ environment }: SessionView, kind: string): void =>
  writeFileSync(join(place.data, 'environments', environment.id, 'home', `go-${kind}`), '');

const toolRuns = ({ id, sequence }: SessionView): Promise<unknown> =>
  waitFor(
    'the tool',
    async () => (await logOf(client, id)).find((event) => event.sequence! > sequence && event.body.kind === 'tool.call') ?? null,
    120_000,
  );

for (const { name, asks, steers, forks, refused } of talkers) {
  describe.skipIf(!isThere(name))(`sessions with ${name}`, SLOW, () => {
    let last: string | null = null;

    const begin = async (mode: SessionView['mode']): Promise<SessionView> => {
      const made = await client.call('sessionCreate', { body: { project: repository, harness: name, mode } });
      last = made.id;
      return sessionIn(client, made.id, ['idle']);
    };

    const endLast = async (): Promise<void> => {
      if (last !== null) await client.call('sessionEnd', { params: { id: last }, body: {} });
      last = null;
    };

    /** The conversation that the tests have in common, in this mode; another one when a test left it in the middle of something. */
    const talking = async (mode: SessionView['mode']): Promise<SessionView> => {
      const now = last === null ? null : await client.call('sessionShow', { params: { id: last } });
      if (now?.state === 'idle')
        return now.mode === mode ? now : client.call('sessionSet', { params: { id: now.id }, body: { mode } });
      await endLast();
      return begin(mode);
    };

    beforeAll(async () => {
      if ((await Promise.race([life.ended, pause(0)])) !== undefined) await up();
    });
    afterAll(endLast);

    const whereItAsks = asks ? it : notOfIt;
    const whereItDoesNot = asks ? notOfIt : it;

    it('sleeps before anything was said, holds a conversation over turns, sleeps again, and wakes with the same', async () => {
      model.reset([{ text: 'First answer.' }, { text: 'Second answer.' }, { text: 'Third answer, after sleep.' }]);
      const { id } = await begin(asks ? 'ask' : 'all');
      await client.call('sessionClose', { params: { id }, body: {} });
      await sessionIn(client, id, ['dormant']);
      // One program cannot take it up again in the minute in which it began: the node waits until it can.
      const one = await turnOver(client, id, (await send(id, 'Say something. MARKER-talk-1')).id);
      expect([one.outcome, one.turn]).toEqual(['success', 1]);
      const again = await send(id, 'And then? MARKER-talk-2', { requestId: `second-${name}` });
      expect((await send(id, 'And then? MARKER-talk-2', { requestId: `second-${name}` })).replayed).toBe(true);
      expect(await codeOf(send(id, 'Something else', { requestId: `second-${name}` }))).toBe('request_conflict');
      await succeeds(id, again.id);
      const awake = await sessionIn(client, id, ['idle']);
      await client.call('sessionClose', { params: { id }, body: {} });
      const asleep = await sessionIn(client, id, ['dormant']);
      expect([asleep.conversation, asleep.generation]).toEqual([awake.conversation, awake.generation]);
      await succeeds(id, (await send(id, 'Still there? MARKER-talk-3')).id);
      expect((await sessionIn(client, id, ['idle'])).conversation).toBe(awake.conversation);
      expect(texts(await logOf(client, id))).toEqual(['First answer.', 'Second answer.', 'Third answer, after sleep.']);
      expect(model.promptCounts()).toMatchObject({ 'MARKER-talk-1': 1, 'MARKER-talk-2': 1, 'MARKER-talk-3': 1 });
      const told = model.log().filter(({ call }) => call !== undefined && call.tools.length > 0);
      expect(told.at(-1)!.body).toContain('MARKER-talk-2');
      await isGapless(id);
    });

    const answered = async ({ id }: SessionView, outcome: 'approved' | 'denied'): Promise<void> => {
      await sessionIn(client, id, ['waiting']);
      const { items } = await client.call('interactionList', { query: { session: id } });
      expect(items.map(({ ask }) => [ask.kind, ask.command])).toEqual([['command', expect.stringContaining('echo ')]]);
      const [{ id: asked, revision }] = items as [(typeof items)[number]];
      const answer = (body: { revision: number; outcome: 'approved' | 'denied' }) =>
        client.call('interactionAnswer', { params: { id: asked }, body });
      expect(await codeOf(answer({ revision: revision + 1, outcome }))).toBe('conflict');
      await answer({ revision, outcome });
      expect(await codeOf(answer({ revision, outcome: 'approved' }))).toBe('conflict');
    };

    whereItAsks('asks, and does what it was allowed', async () => {
      const session = await talking('ask');
      model.reset([{ shell: 'echo allowed > allowed.txt' }, { text: 'It was allowed.' }]);
      const turn = await send(session.id, 'Do it.');
      await answered(session, 'approved');
      await succeeds(session.id, turn.id);
      expect(await saidSince(session)).toEqual(['It was allowed.']);
      expect(await hasFile(session, 'allowed.txt')).toBe(true);
    });

    whereItAsks('does not do what it was denied', async () => {
      const session = await talking('ask');
      model.reset([{ shell: 'echo denied > denied.txt' }, { text: 'It was not allowed.' }]);
      const turn = await send(session.id, 'Do it.');
      await answered(session, 'denied');
      await succeeds(session.id, turn.id);
      expect(await hasFile(session, 'denied.txt')).toBe(false);
      if (refused === undefined) return expect(await saidSince(session)).toEqual(['It was not allowed.']);
      // Its turn ended there; the conversation goes on with the next input, and what was denied is not done then either.
      expect(await saidSince(session)).toEqual(refused);
      await succeeds(session.id, (await send(session.id, 'Go on without it.')).id);
      expect(await saidSince(session)).toEqual([...refused, 'It was not allowed.']);
      expect(await hasFile(session, 'denied.txt')).toBe(false);
    });

    it('asks nobody where the person said so', async () => {
      const session = await talking('all');
      const asked = async () => (await client.call('interactionList', { query: { session: session.id, all: 'true' } })).items;
      const before = (await asked()).map(({ id }) => id);
      model.reset([{ shell: 'echo all > all.txt' }, { text: 'Nobody was asked.' }]);
      await succeeds(session.id, (await send(session.id, 'Do it.')).id);
      expect(await hasFile(session, 'all.txt')).toBe(true);
      const since = (await asked()).filter(({ id }) => !before.includes(id)).map(({ outcome, by }) => [outcome, by]);
      expect(since).toEqual(asks ? [['approved', 'mode "all"']] : []);
    });

    it(`parts ${forks === 'native' ? 'with its own memory' : 'with a record'}, and both go on by themselves`, async () => {
      const session = await talking('all');
      model.reset(partingSteps);
      const shown = await place.cli(['session', 'show', session.id]);
      expect(shown.stdout.includes('begin with a record of what was said')).toBe(forks === 'record');
      const fork = await partsAndGoesOn({ client, model }, session, forks);
      await isGapless(session.id);
      await isGapless(fork.id);
      await client.call('sessionEnd', { params: { id: fork.id }, body: {} });
    });

    it(`${steers ? 'takes' : 'is refused'} words into the turn that runs; what is queued comes after it`, async () => {
      const session = await talking('all');
      const { id } = session;
      model.reset([waiting('steer'), { text: 'I heard it.' }, { text: 'Later.' }]);
      const first = await send(id, 'Do it. MARKER-steer-1');
      await toolRuns(session);
      const steer = steers ? await send(id, 'Leave the docs alone. MARKER-steer-2', { kind: 'steer' }) : null;
      if (steer === null) expect(await codeOf(send(id, 'Leave the docs alone.', { kind: 'steer' }))).toBe('unsupported');
      const queued = await send(id, 'And later this. MARKER-steer-3');
      letGo(session, 'steer');
      const one = await turnOver(client, id, first.id);
      expect(one.outcome).toBe('success');
      if (steer !== null) expect(await turnOver(client, id, steer.id)).toMatchObject({ outcome: 'success', turn: one.turn });
      expect((await turnOver(client, id, queued.id)).turn).toBe(one.turn! + 1);
      expect(await saidSince(session)).toEqual(['I heard it.', 'Later.']);
      const once = steer === null ? {} : { 'MARKER-steer-2': 1 };
      expect(model.promptCounts()).toMatchObject({ 'MARKER-steer-1': 1, ...once, 'MARKER-steer-3': 1 });
      if (steers) expect(await codeOf(send(id, 'nothing runs', { kind: 'steer' }))).toBe('conflict');
    });

    it('goes on after the node was killed in the middle of a turn: nothing lost, nothing sent twice', async () => {
      const session = await talking('all');
      const { id } = session;
      model.reset([waiting('crash'), { text: 'Over the crash.' }, { text: 'Then this.' }]);
      const first = await send(id, 'Do it. MARKER-crash-1');
      await toolRuns(session);
      const queued = await send(id, 'And then? MARKER-crash-2');
      await life.kill();
      await up();
      expect((await client.call('sessionShow', { params: { id } })).state).toBe('running');
      letGo(session, 'crash');
      await succeeds(id, first.id);
      await succeeds(id, queued.id);
      expect((await sessionIn(client, id, ['idle'])).generation).toBe(session.generation);
      expect(model.promptCounts()).toMatchObject({ 'MARKER-crash-1': 1, 'MARKER-crash-2': 1 });
      await isGapless(id);
      expect(await saidSince(session)).toEqual(['Over the crash.', 'Then this.']);
    });

    it('is stopped in the middle of a tool, goes on with the next turn, and ends for good', async () => {
      const session = await talking('all');
      const { id } = session;
      model.reset([waiting('never'), { text: 'Another turn.', times: 'forever' }]);
      const first = await send(id, 'Do it.');
      await toolRuns(session);
      await client.call('sessionInterrupt', { params: { id }, body: {} });
      expect((await turnOver(client, id, first.id)).outcome).toBe('cancelled');
      await succeeds(id, (await send(id, 'Another one.')).id);
      expect(await saidSince(session)).toContain('Another turn.');
      await endLast();
      expect((await sessionIn(client, id, ['ended'])).endedAt).not.toBeNull();
      expect(await codeOf(send(id, 'too late'))).toBe('conflict');
    });

    whereItDoesNot('is refused a mode that it cannot keep', async () => {
      expect(await codeOf(begin('ask'))).toBe('unsupported');
    });

    // The command line does not know programs apart; of those that ask, two that share nothing show it.
    (name === 'claude' || name === 'codex' ? it : notOfIt)('is held from the command line', async () => {
      model.reset([{ shell: 'echo allowed > allowed.txt' }, { text: 'It was allowed.' }]);
      const called = `typed-${name}`;
      const to = ['--project', repository, '--harness', name, '--name', called];
      const asked = await place.cli(['session', 'start', 'Do it.', ...to, '--json']);
      expect([asked.code, JSON.parse(asked.stdout).error.code]).toEqual([6, 'interaction_required']);
      const [open] = JSON.parse((await place.cli(['session', 'interactions', called, '--json'])).stdout).result.items;
      expect((await place.cli(['session', 'answer', open.id, 'approve'])).code).toBe(0);
      await sessionIn(client, called, ['idle']);
      const shown = await place.cli(['session', 'log', called]);
      expect(shown.stdout).toContain('It was allowed.');
      const more = await place.cli(['session', 'send', called, 'And then?']);
      expect([more.code, more.stderr]).toEqual([0, more.stderr]);
      expect((await place.cli(['session', 'end', called])).code).toBe(0);
    });
  });
}
