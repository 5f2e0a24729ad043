/** Tasks whose program is spoken with in both directions, with real programs: they work as ever, and so does dying. */
import { join } from 'node:path';
import type { Client } from '@orrery/client';
import type { ScriptedModel } from '@orrery/scripted-model';
import { beforeAll, describe, expect, it } from 'vitest';
import { agentNames, callsWith, configFor, isThere, modelOfSuite, scriptsOf, type AgentName } from './support/agents.ts';
import { crashRun } from './support/crash-run.ts';
import { nothing, settledLeftovers } from './support/leftovers.ts';
import { lentPlaces, type LentPlace } from './support/lent-places.ts';
import type { Life } from './support/life.ts';
import { placeOfSuite } from './support/place.ts';
import { processesOf } from './support/process-tree.ts';
import { makeRepository } from './support/repository.ts';
import { bodiesOf, eventsOf, taskEnd, textOf, waitFor } from './support/wait.ts';

const main = join(import.meta.dirname, 'support/spoken-main.ts');
const END_MS = 200_000;
const tags: Readonly<Record<AgentName, string>> = { claude: '76641.5', codex: '76642.5', pi: '76643.5' };
const forever = (step: object): object[] => [{ ...step, times: 'forever', on: 'any' }];

const cases = (name: AgentName): Readonly<Record<string, readonly object[]>> => ({
  back: [
    { shell: 'mkdir -p made && echo by-command > made/file.txt' },
    { write: { path: 'answer.txt', content: 'wrong\n', fresh: true } },
    { text: 'That should do.' },
    { edit: { path: 'answer.txt', old: 'wrong', new: 'right' } },
    { text: 'Now it is right.' },
  ],
  on: [
    { write: { path: 'first.txt', content: 'left-by-the-first\n', fresh: true } },
    { text: 'The first is done.' },
    { shell: 'cat first.txt; cp first.txt second.txt' },
    { text: 'The second is done.' },
  ],
  cancel: [{ shell: `(setsid sleep ${tags[name]} &); sleep ${tags[name]}` }, { text: 'never' }],
  usage: forever({ error: 'usage_limit' }),
  auth: forever({ error: 'auth' }),
  hang: forever({ text: 'it goes quiet in the middle of this', hang_after: 3 }),
});

for (const name of agentNames) {
  describe.skipIf(!isThere(name))(`${name}, spoken with in a task`, { timeout: 240_000 }, () => {
    const place = placeOfSuite();
    let model: ScriptedModel;
    let life: Life;
    let client: Client;

    beforeAll(async () => {
      model = await modelOfSuite(scriptsOf(cases(name)));
      place.configure(configFor(model, { harness: name }));
      life = await place.up({ main });
      client = place.client(life);
    });

    const send = async (kind: string, more: object = {}): Promise<string> =>
      (await client.call('taskAdd', { body: { prompt: `Do it. [${kind}] MARKER-${kind}`, ...more } })).id;
    const project = async (kind: string, validation: string): Promise<string> => {
      const repository = makeRepository(place, kind, { validation });
      await client.call('projectAdd', { body: { source: repository } });
      return repository;
    };

    it('changes files and runs commands unasked, is sent back in the same conversation, and each prompt is sent once', async () => {
      const validation = 'grep -q right answer.txt && grep -q by-command made/file.txt || { echo "MARKER-why"; exit 1; }';
      const id = await send('back', { project: await project('back', validation) });
      const task = await taskEnd(client, id, END_MS);
      expect([task.verdict, task.reason, task.attempts]).toEqual(['accepted', null, 1]);
      expect(model.promptCounts()).toMatchObject({ 'MARKER-back': 1, 'MARKER-why': 1 });
      const last = callsWith(model, '[back]').at(-1)!;
      expect([last.body.includes('MARKER-back'), last.body.includes('MARKER-why')]).toEqual([true, true]);
      const events = await eventsOf(client, id);
      expect([textOf(events).includes('Now it is right.'), bodiesOf(events, 'user').length]).toEqual([true, 2]);
      expect(bodiesOf(events, 'turn.ended').map(({ outcome }) => outcome)).toEqual(['success', 'success']);
    });

    it('goes on in another task with the conversation that the first one left', async () => {
      const repository = await project('on', 'test -f first.txt');
      const first = await taskEnd(client, await send('on', { project: repository }), END_MS);
      expect([first.verdict, first.reason]).toEqual(['accepted', null]);
      const body = { prompt: 'Go on. MARKER-more', continues: first.id };
      const next = await taskEnd(client, (await client.call('taskAdd', { body })).id, END_MS);
      expect([next.verdict, next.reason]).toEqual(['accepted', null]);
      const last = callsWith(model, '[on]').at(-1)!;
      expect(['MARKER-on', 'The first is done.', 'MARKER-more'].map((word) => last.body.includes(word))).toEqual([
        true,
        true,
        true,
      ]);
      expect([model.promptCounts()['MARKER-on'], model.promptCounts()['MARKER-more']]).toEqual([1, 1]);
    });

    it('is cancelled in the middle of a tool, with its whole tree', async () => {
      const id = await send('cancel');
      await waitFor('the tool', () => (processesOf(tags[name]).length >= 2 ? true : null), END_MS);
      await client.call('taskCancel', { params: { id }, body: {} });
      const task = await taskEnd(client, id, END_MS);
      expect([task.verdict, task.cause]).toEqual(['cancelled', null]);
      expect(processesOf(tags[name])).toEqual([]);
    });

    it('a model that hangs: the limit of the turn ends it', async () => {
      const task = await taskEnd(client, await send('hang', { limits: { turnMs: 15_000 } }), END_MS);
      expect([task.verdict, task.cause, task.reason]).toEqual(['failed', 'timeout', expect.stringMatching(/time limit/)]);
    });

    it.for([
      ['auth', 'failed', 'auth', /refused the credential/],
      // The last: its account is used up from here on.
      ['usage', 'limit', null, /^Usage limit until \d{4}-\d\d-\d\dT/],
    ] as const)('a model that answers with %s: %s, cause %s', async ([kind, verdict, cause, reason]) => {
      const task = await taskEnd(client, await send(kind), END_MS);
      expect([task.verdict, task.cause, task.reason]).toEqual([verdict, cause, expect.stringMatching(reason)]);
      expect(model.promptCounts()[`MARKER-${kind}`]).toBe(1);
    });

    it('leaves nothing behind', async () => {
      expect(await settledLeftovers(place, life.pid)).toEqual(nothing);
    });
  });
}

const steps = [
  { text: 'First I do some work.', shell: 'echo once >> work.txt; sleep 1' },
  { text: 'That was all.' },
  { text: 'I see. I write the answer.', write: { path: 'answer.txt', content: 'right\n', fresh: true } },
  { text: 'It is written now.' },
];

/** Lines that Codex is told before its first prompt, more than any other; the prompt is the next one. */
const OPENING = 4;

const points: readonly string[] = [
  'run-recorded:drive',
  'run-launched:drive',
  'run-going:drive',
  'input-written:drive:1',
  `input-written:drive:${OPENING + 1}`,
  `input-written:drive:${OPENING + 2}`,
  'output-committed:drive:1',
  'output-committed:drive:2',
  'run-ended:drive',
];

// The one with the longest opening; what is the same for every program is tried in sessions-crash.
describe.skipIf(!isThere('codex'))('a node that dies while it speaks with codex in a task', { timeout: 300_000 }, () => {
  let model: ScriptedModel;
  const lend = lentPlaces(() => configFor(model));

  beforeAll(async () => {
    model = await modelOfSuite(scriptsOf({ crash: steps }));
  });

  const conduct = (place: LentPlace, killAt: readonly string[]) => {
    const validation = `grep -q right answer.txt || { echo "MARKER-why-${place.row}"; exit 3; }`;
    const repository = makeRepository(place, place.row, { validation });
    const request = {
      prompt: `Write the answer. [crash] MARKER-first-${place.row}`,
      project: repository,
      harness: 'codex',
      requestId: place.row,
    };
    const files = ['work.txt', 'answer.txt'];
    return crashRun({ place, main, request, killAt, deadMs: 1_000, files, repository, limitMs: END_MS });
  };

  it.for(points)('at %s goes on, and says each prompt once', async (point, context) => {
    const place = lend(context);
    const outcome = await conduct(place, [point]);
    const { verdict, reason, attempts, files, gapless, prompts, left } = outcome;
    expect([verdict, reason, attempts, gapless, prompts.length]).toEqual(['accepted', null, 1, true, 2]);
    expect(left).toEqual(nothing);
    const seen = model.promptCounts();
    const [first, why] = [seen[`MARKER-first-${place.row}`], seen[`MARKER-why-${place.row}`]];
    // A model stream that crosses the node is cut with it; the program asks again, and the next step is played.
    expect([1, 2]).toContain(first);
    expect(files).toEqual({ 'work.txt': first === 2 ? null : 'once', 'answer.txt': 'right' });
    expect(why).toBe(1);
    expect(outcome.turns.join('').split('It is written now.').length - 1).toBe(1);
  });
});
