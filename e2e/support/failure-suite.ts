// The suite of everything that goes wrong in a conversation, for one program after the other on one node.
import type { Client } from '@orrery/client';
import type { OrreryEvent, SessionView, TurnView } from '@orrery/protocol';
import type { ScriptedModel } from '@orrery/scripted-model';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configFor, isThere, modelOfSuite } from './agents.ts';
import type { Frailty } from './failure-table.ts';
import { placeOfSuite } from './place.ts';
import { makeRepository } from './repository.ts';
import { kinds, logOf, sessionIn, texts, turnOver } from './sessions.ts';

const SLOW = { timeout: 120_000 };
/** How long a model may be silent here. */
const QUIET_MS = 2_000;

/** Every call from now on, also those beside the turn. */
const always = { times: 'forever', on: 'any' } as const;
/** Programs that heed it wait no longer than this before they ask again. */
const soon = { headers: { 'retry-after-ms': '20', 'retry-after': '1' } };

const UNICODE = 'Grüße 🌍, naïve 👩‍👩‍👧 and 漢字.';

/** Says what happens in each case, with these programs. */
export const failuresOf = (programs: readonly Frailty[]): void => {
  const place = placeOfSuite();
  let model: ScriptedModel;
  let client: Client;
  let repository: string;

  beforeAll(async () => {
    model = await modelOfSuite([]);
    place.configure(configFor(model, { gateway: { quietMs: QUIET_MS } }));
    await place.cli(['secret', 'set', 'test'], { input: 'made-up-provider-key' });
    client = place.client(await place.up());
    repository = makeRepository(place, 'talked-about', {});
    await client.call('projectAdd', { body: { source: repository } });
  });

  for (const program of programs)
    failuresOfOne(program, { place: () => place, model: () => model, client: () => client, repository: () => repository });
};

type Around = {
  readonly place: () => ReturnType<typeof placeOfSuite>;
  readonly model: () => ScriptedModel;
  readonly client: () => Client;
  readonly repository: () => string;
};

const failuresOfOne = (program: Frailty, around: Around): void => {
  const { name, cut, hang, limitSeconds } = program;
  describe.skipIf(!isThere(name))(`what goes wrong with ${name}`, SLOW, () => {
    const { model, client } = around;
    const all: string[] = [];
    let last: string | null = null;

    /** The conversation that the cases have in common, in this mode; another one when a case left it in the middle of something. */
    const talking = async (mode: SessionView['mode'] = 'all'): Promise<SessionView> => {
      const now = last === null ? null : await client().call('sessionShow', { params: { id: last } });
      if (now !== null && ['idle', 'dormant'].includes(now.state))
        return now.mode === mode ? now : client().call('sessionSet', { params: { id: now.id }, body: { mode } });
      const made = await client().call('sessionCreate', { body: { project: around.repository(), harness: name, mode } });
      last = made.id;
      all.push(made.id);
      return sessionIn(client(), made.id, ['idle']);
    };
    afterAll(async () => {
      for (const id of all) await client().call('sessionEnd', { params: { id }, body: {} });
    });

    const send = ({ id }: SessionView, text: string): Promise<TurnView> =>
      client().call('turnAdd', { params: { id }, body: { text } });
    const since = async ({ id, sequence }: SessionView): Promise<OrreryEvent[]> =>
      (await logOf(client(), id)).filter((event) => event.sequence! > sequence);
    const notices = (log: readonly OrreryEvent[]): string[] => kinds(log, 'notice').map(({ text }) => text);

    /** Says something, with these answers to come, and waits how that ends. */
    const play = async (steps: readonly object[], text = 'Do it.') => {
      const session = await talking();
      model().reset(steps);
      const over = await turnOver(client(), session.id, (await send(session, text)).id);
      const log = await since(session);
      return { session, over, log, end: kinds(log, 'turn.ended').at(-1)! };
    };
    const isFine = async (said: string): Promise<void> => {
      const { over, log } = await play([{ text: said }], 'And now?');
      expect([over.outcome, over.reason, texts(log)]).toEqual(['success', null, [said]]);
    };

    it('shows what was thought and said, whatever bytes the model writes at once', async () => {
      const { over, log } = await play([{ thinking: `I think: ${UNICODE}`, text: UNICODE, pieces: 1_000, write_bytes: 1 }]);
      expect([over.outcome, texts(log)]).toEqual(['success', [UNICODE]]);
      expect(kinds(log, 'thinking').map(({ text }) => text)).toEqual([expect.stringContaining(`I think: ${UNICODE}`)]);
    });

    it('is not led astray by an event of a model that nobody knows', async () => {
      const { over, log } = await play([{ unknown: true, text: 'Known.' }, { text: 'Known.' }]);
      expect([over.outcome, texts(log)]).toEqual(['success', ['Known.']]);
    });

    it('an overloaded model is told as one, and the conversation goes on', async () => {
      const { over, end } = await play([{ error: 'overloaded', ...soon, ...always }]);
      expect([over.outcome, end.failure, end.resetsAt]).toEqual(['error', 'overloaded', null]);
      await isFine('Not overloaded any more.');
    });

    it('a refused key is told as one', async () => {
      const { over, end } = await play([{ error: 'auth', ...always }]);
      expect([over.outcome, end.failure, end.resetsAt]).toEqual(['error', 'auth', null]);
    });

    it(`an answer that is cut ${cut === 'ends' ? 'ends the turn as that' : 'is asked for again'}`, async () => {
      const half = { text: 'half of this is lost on the way', cut: 0.5 };
      const { over, end, log } = await play(cut === 'ends' ? [{ ...half, ...always }] : [half, { text: 'All of it.' }]);
      if (cut === 'ends') return expect([over.outcome, end.failure]).toEqual(['error', 'network']);
      expect([over.outcome, texts(log).at(-1)]).toEqual(['success', expect.stringMatching(/All of it\.$/)]);
      expect(notices(log)).toContainEqual(expect.stringMatching(/failed \(network\)|Retrying/));
    });

    it(`an answer that falls silent ${hang === 'ends' ? 'ends the turn as that' : 'is asked for again'}`, async () => {
      const half = { text: 'it goes quiet in the middle of this', hang_after: 3 };
      const { over, end, log } = await play(hang === 'ends' ? [{ ...half, ...always }] : [half, { text: 'All of it.' }]);
      if (hang === 'ends') return expect([over.outcome, end.failure]).toEqual(['error', 'timeout']);
      // One program puts both into one message.
      expect([over.outcome, texts(log).at(-1)]).toEqual(['success', expect.stringMatching(/All of it\.$/)]);
      expect(notices(log)).toContainEqual(expect.stringMatching(/failed \(timeout\)|Retrying/));
    });

    it('a usage limit spends no call, keeps what waits until it is over, and then all goes on by itself', async () => {
      const { session, over, end } = await play(
        [{ error: 'usage_limit', resets_in: limitSeconds, ...always }],
        'Do it. MARKER-limit-1',
      );
      expect([over.outcome, end.failure]).toEqual(['limit', 'usage_limit']);
      expect(
        model()
          .log()
          .filter(({ call }) => (call?.tools.length ?? 0) > 0),
      ).toHaveLength(1);
      const limit = (await client().call('sessionShow', { params: { id: session.id } })).limit;
      expect(limit).toMatchObject({ told: true, until: end.resetsAt });
      const waits = await send(session, 'Go on. MARKER-limit-2');
      model().reset([{ text: 'After it.' }]);
      const done = await turnOver(client(), session.id, waits.id);
      expect([done.outcome, Date.now() >= Date.parse(end.resetsAt!)]).toEqual(['success', true]);
      expect(texts(await since(session)).at(-1)).toBe('After it.');
      expect(model().promptCounts()).toMatchObject({ 'MARKER-limit-2': 1 });
    });
  });
};
