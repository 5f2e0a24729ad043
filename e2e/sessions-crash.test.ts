/** A node that is killed at every named point of a session, with each program: nothing is lost, nothing is said twice. */
import { join } from 'node:path';
import { start, type ScriptedModel } from '@orrery/scripted-model';
import { afterAll, describe, expect, it } from 'vitest';
import { sessionKillPoints } from '../packages/node/src/run/kill-points.ts';
import { agentNames, configFor, isThere, scriptsOf } from './support/agents.ts';
import { crashRows, type Ground } from './support/crash-rows.ts';
import { nothing, settledLeftovers } from './support/leftovers.ts';
import { makeRepository } from './support/repository.ts';
import { afterForked, beforeForked, CARRIED, rewindPoints } from './support/session-points.ts';
import { logOf, sessionIn, texts, turnOver } from './support/sessions.ts';

/** Those with a dialect of their own, and one of those that share one. */
const names = [...agentNames, 'gemini'] as const;
type Name = (typeof names)[number];

/** Lines that each program is told before its first prompt; the prompt is the next one. */
const opening: Readonly<Record<Name, number>> = { claude: 1, codex: 4, pi: 3, gemini: 2 };

/** What comes before its first line; of the one that shares its dialect, only what comes after. */
const beforeItsFirstLine = ['session-run-recorded', 'session-run-launched', 'session-run-going', 'session-checkpoint-saved'];

const pointsOf = (name: Name): readonly string[] => [
  ...(name === 'gemini' ? [] : beforeItsFirstLine),
  'session-frame-written::1',
  `session-frame-written::${opening[name] + 1}`,
  'session-output-committed::1',
];

/** The last one is met by a session that is put to sleep after it. */
const LAST = 'session-output-committed::2';

it('every point is met by a test', () => {
  const met = [...pointsOf('claude'), LAST, 'session-ended', ...rewindPoints, ...beforeForked, ...afterForked, CARRIED].map(
    (point) => point.split(':')[0],
  );
  expect(new Set(met)).toEqual(new Set<string>(sessionKillPoints));
});

let model: ScriptedModel | null = null;
afterAll(() => model?.close());

const row = crashRows(async (place) => {
  model ??= await start({
    script: scriptsOf({ two: [{ text: 'First.' }, { text: 'Second.' }, { text: 'Third, after sleep.' }] }),
  });
  place.configure(configFor(model));
  await place.cli(['secret', 'set', 'test'], { input: 'made-up-provider-key' });
  makeRepository(place, 'repository', {});
});

/** A session whose beginning the node does not outlive. */
const sessionOver = async (ground: Ground, name: Name, point: string) => {
  const marker = `MARKER-${name}-${point.replaceAll(':', '-')}`;
  const begin = () =>
    ground.client().call('sessionCreate', {
      body: {
        ...{ project: join(ground.place.folder, 'repositories/repository'), harness: name, mode: 'all' },
        ...{ prompt: `Do it. [two] ${marker}-1`, requestId: marker },
      },
    });
  await ground.client().call('projectAdd', { body: { source: join(ground.place.folder, 'repositories/repository') } });
  await ground.dies(point, begin);
  const { id } = await begin();
  const over = async (turn: string) => expect((await turnOver(ground.client(), id, turn)).outcome).toBe('success');
  await over((await ground.client().call('turnList', { params: { id } })).items[0]!.id);
  return {
    id,
    say: async (text: string): Promise<void> => {
      const turn = await ground.client().call('turnAdd', { params: { id }, body: { text: text.replace('MARKER', marker) } });
      await over(turn.id);
    },
    /** Nothing is missing, nothing was said twice, and nothing of it stays. */
    ends: async (answers: readonly string[]): Promise<void> => {
      const client = ground.client();
      const log = await logOf(client, id);
      expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, index) => index + 1));
      expect(texts(log)).toEqual(answers);
      const said = Object.fromEntries(answers.map((_, index) => [`${marker}-${index + 1}`, 1]));
      expect(model?.promptCounts()).toMatchObject(said);
      await client.call('sessionEnd', { params: { id }, body: {} });
      const { environment } = await sessionIn(client, id, ['ended']);
      await client.call('environmentDelete', { params: { id: environment.id }, query: { salvage: 'true' }, timeoutMs: 60_000 });
      expect(await settledLeftovers(ground.place, ground.life().pid)).toEqual(nothing);
    },
  };
};

for (const name of names) {
  describe.skipIf(!isThere(name))(`a node that dies while ${name} is spoken with`, { timeout: 240_000 }, () => {
    it.each(pointsOf(name))('at %s goes on, and says each prompt once', (point) =>
      row(async (ground) => {
        const session = await sessionOver(ground, name, point);
        await session.say('And again. MARKER-2');
        await session.ends(['First.', 'Second.']);
      }),
    );

    it('at session-ended finds it asleep, and wakes it', () =>
      row(async (ground) => {
        const session = await sessionOver(ground, name, LAST);
        const { id } = session;
        await session.say('And again. MARKER-2');
        await ground.dies('session-ended', (client) => client.call('sessionClose', { params: { id }, body: {} }));
        expect((await sessionIn(ground.client(), id, ['dormant'])).generation).toBe(1);
        await session.say('Still there? MARKER-3');
        await session.ends(['First.', 'Second.', 'Third, after sleep.']);
      }));
  });
}
