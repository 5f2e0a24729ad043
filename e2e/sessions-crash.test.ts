/** A node that is killed at every named point of a session, with each program: nothing is lost, nothing is said twice. */
import type { Client } from '@orrery/client';
import { start } from '@orrery/scripted-model';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sessionKillPoints } from '../packages/node/src/run/kill-points.ts';
import { agentNames, configFor, isThere, scriptsOf } from './support/agents.ts';
import { asked, died } from './support/dying.ts';
import { nothing, settledLeftovers } from './support/leftovers.ts';
import { placeOfTest } from './support/place.ts';
import { makeRepository } from './support/repository.ts';
import { rewindPoints } from './support/session-points.ts';
import { logOf, sessionIn, texts, turnOver } from './support/sessions.ts';

/** Those with a dialect of their own, and one of those that share one. */
const names = [...agentNames, 'gemini'] as const;
type Name = (typeof names)[number];

/** Lines that each program is told before its first prompt; the prompt is the next one. */
const opening: Readonly<Record<Name, number>> = { claude: 1, codex: 4, pi: 3, gemini: 2 };

const everyPoint = (name: Name): readonly string[] => [
  'session-run-recorded',
  'session-run-launched',
  'session-run-going',
  'session-checkpoint-saved',
  'session-frame-written::1',
  `session-frame-written::${opening[name] + 1}`,
  'session-output-committed::1',
  'session-output-committed::2',
];

/** What comes before its first line is the same for every program; of the one that shares its dialect, what comes after. */
const pointsOf = (name: Name): readonly string[] =>
  name === 'gemini' ? everyPoint(name).filter((point) => /:\d+$/.test(point)) : everyPoint(name);

it('every point is met by a test', () => {
  const met = new Set([...pointsOf('claude').map((point) => point.split(':')[0]), 'session-ended', ...rewindPoints]);
  expect(met).toEqual(new Set<string>(sessionKillPoints));
});

for (const name of names) {
  describe.skipIf(!isThere(name))(`a node that dies while ${name} is spoken with`, { timeout: 240_000 }, () => {
    /** A place with a model of its own. */
    const prepared = async () => {
      const place = placeOfTest();
      const model = await start({ script: scriptsOf({ two: [{ text: 'First.' }, { text: 'Second.' }] }) });
      onTestFinished(() => model.close());
      place.configure(configFor(model, { harness: name }));
      await place.cli(['secret', 'set', 'test'], { input: 'made-up-provider-key' });
      return { place, model, repository: makeRepository(place, 'repository', {}) };
    };
    const begin = (client: Client, repository: string) =>
      client.call('sessionCreate', {
        body: { project: repository, mode: 'all', prompt: 'Do it. [two] MARKER-one', requestId: 'session-1' },
      });
    const over = async (client: Client, id: string, turn?: string) => {
      const first = turn ?? (await client.call('turnList', { params: { id } })).items[0]!.id;
      return turnOver(client, id, first);
    };

    it.each(pointsOf(name))('at %s goes on, and says each prompt once', async (point) => {
      const { place, model, repository } = await prepared();
      const first = await place.up({ killAt: point });
      const before = place.client(first);
      await before.call('projectAdd', { body: { source: repository } });
      await asked(begin(before, repository));
      await died(first, point);
      const life = await place.up();
      const client = place.client(life);
      const { id } = await begin(client, repository);
      expect((await over(client, id)).outcome).toBe('success');
      const { id: next } = await client.call('turnAdd', { params: { id }, body: { text: 'And again. MARKER-two' } });
      expect((await over(client, id, next)).outcome).toBe('success');
      const log = await logOf(client, id);
      expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, index) => index + 1));
      expect(texts(log)).toEqual(['First.', 'Second.']);
      expect(model.promptCounts()).toMatchObject({ 'MARKER-one': 1, 'MARKER-two': 1 });
      await client.call('sessionEnd', { params: { id }, body: {} });
      const { environment } = await sessionIn(client, id, ['ended']);
      await client.call('environmentDelete', { params: { id: environment.id }, query: { salvage: 'true' }, timeoutMs: 60_000 });
      expect(await settledLeftovers(place, life.pid)).toEqual(nothing);
    });

    it('at session-ended finds it asleep, and wakes it', async () => {
      const { place, model, repository } = await prepared();
      const first = await place.up({ killAt: 'session-ended' });
      const before = place.client(first);
      await before.call('projectAdd', { body: { source: repository } });
      const { id } = await begin(before, repository);
      expect((await over(before, id)).outcome).toBe('success');
      await asked(before.call('sessionClose', { params: { id }, body: {} }));
      await died(first, 'session-ended');
      const client = place.client(await place.up());
      expect((await sessionIn(client, id, ['dormant'])).generation).toBe(1);
      const { id: next } = await client.call('turnAdd', { params: { id }, body: { text: 'And again. MARKER-two' } });
      expect((await over(client, id, next)).outcome).toBe('success');
      expect(model.promptCounts()).toMatchObject({ 'MARKER-one': 1, 'MARKER-two': 1 });
    });
  });
}
