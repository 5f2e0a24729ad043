/** The three real programs on a real node: tools, conversations, cancels, and every way in which a model lets one down. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@orrery/client';
import type { Task } from '@orrery/protocol';
import type { ScriptedModel } from '@orrery/scripted-model';
import { commitAll } from '@orrery/testkit';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  agentNames,
  callsWith,
  configFor,
  isThere,
  modelOfSuite,
  PROVIDER_KEY,
  scriptsOf,
  type AgentName,
} from './support/agents.ts';
import { nothing, settledLeftovers } from './support/leftovers.ts';
import type { Life } from './support/life.ts';
import { placeOfSuite } from './support/place.ts';
import { processesOf } from './support/process-tree.ts';
import { makeRepository } from './support/repository.ts';
import { bodiesOf, eventsOf, taskEnd, textOf, waitFor } from './support/wait.ts';

/** Under load the programs alone take some seconds to begin. */
const SLOW = { timeout: 240_000 };
const END_MS = 200_000;

const tags: Readonly<Record<AgentName, string>> = { claude: '76541.5', codex: '76542.5', pi: '76543.5' };

const forever = (step: object): object[] => [{ ...step, times: 'forever', on: 'any' }];

/** What the model does in each case, by the name in the prompt. */
const cases = (name: AgentName): Readonly<Record<string, readonly object[]>> => ({
  tool: [
    { text: 'I write it.', write: { path: 'hello.txt', content: 'hello\n', fresh: true }, usage: { input: 1000, output: 100 } },
    { text: 'It is written.', usage: { input: 1200, output: 50, cached: 200 } },
  ],
  back: [
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
  typed: [{ shell: 'cat "$ORRERY_INPUT"' }, { text: 'I count three.' }, { text: '{"count":3}' }],
  goal: [
    { text: 'I have looked around.' },
    { write: { path: 'goal.txt', content: 'reached\n', fresh: true } },
    { text: 'Now it is there.' },
    { text: '{"met":true,"reason":"goal.txt is there"}', on: 'side', times: 'forever', matchPrompt: 'added goal\\.txt' },
    { text: '{"met":false,"reason":"there is no goal.txt"}', on: 'side', times: 'forever' },
  ],
  cancel: [{ shell: `(setsid sleep ${tags[name]} &); sleep ${tags[name]}` }, { text: 'never' }],
  long: [{ bytes: 10_000_000 }],
  rate: forever({ error: 'rate_limit' }),
  overloaded: forever({ error: 'overloaded' }),
  auth: forever({ error: 'auth' }),
  usage: forever({ error: 'usage_limit' }),
  cut: forever({ text: 'half of this is lost on the way', cut: 0.5 }),
  drop: forever({ drop: true }),
  garbage: forever({ garbage: true }),
  hang: forever({ text: 'it goes quiet in the middle of this', hang_after: 3 }),
  look: [{ shell: 'sh ./look.sh' }, { text: 'I looked.' }],
});

/** How each failure of a model is told: verdict, cause, and the words that say which it was. */
const failures: readonly (readonly [name: string, verdict: Task['verdict'], cause: string | null, reason: RegExp])[] = [
  ['rate', 'failed', 'infrastructure', /limits the rate/],
  ['overloaded', 'failed', 'infrastructure', /overloaded/],
  ['auth', 'failed', 'auth', /refused the credential/],
  ['cut', 'failed', 'infrastructure', /connection to the model broke/],
  ['drop', 'failed', 'infrastructure', /connection to the model broke/],
  ['garbage', 'failed', 'infrastructure', /could not be read/],
];

for (const name of agentNames) {
  describe.skipIf(!isThere(name))(name, SLOW, () => {
    const canaries = {
      variable: `canary-variable-${name}-5e1f`,
      stored: `canary-stored-${name}-77ab`,
      file: `canary-file-${name}-91cd`,
    };
    const place = placeOfSuite();
    let model: ScriptedModel;
    let life: Life;
    let client: Client;

    beforeAll(async () => {
      model = await modelOfSuite(scriptsOf(cases(name)));
      place.configure(configFor(model, { harness: name, memory: ['project'] }));
      const stored = await place.cli(['secret', 'set', 'other'], { input: canaries.stored });
      expect([stored.code, stored.stderr]).toEqual([0, stored.stderr]);
      writeFileSync(join(place.data, 'canary'), canaries.file);
      life = await place.up({ env: { CANARY: canaries.variable, MY_API_TOKEN: canaries.variable } });
      client = place.client(life);
    });

    const send = async (kind: string, more: object = {}): Promise<string> =>
      (await client.call('taskAdd', { body: { prompt: `Do it. [${kind}] MARKER-${kind}`, ...more } })).id;

    const project = async (kind: string, validation?: string): Promise<string> => {
      const repository = makeRepository(place, kind, validation === undefined ? {} : { validation });
      await client.call('projectAdd', { body: { source: repository } });
      return repository;
    };

    describe.concurrent('works', () => {
      it('does a turn with a tool, and what it used is counted and priced', async () => {
        const id = await send('tool', { project: await project('tool', 'test -f hello.txt') });
        const task = await taskEnd(client, id, END_MS);
        const events = await eventsOf(client, id);
        expect([task.verdict, task.reason, task.result?.filesChanged]).toEqual(['accepted', null, 1]);
        expect([bodiesOf(events, 'tool.call').length, bodiesOf(events, 'tool.result').map(({ failed }) => failed)]).toEqual([
          1,
          [false],
        ]);
        expect(textOf(events)).toContain('It is written.');
        expect(task.result?.usage).toMatchObject({ calls: expect.any(Number), costUsd: expect.any(Number) });
        const { calls, costUsd, outputTokens } = task.result!.usage;
        expect([calls >= 2, costUsd! > 0, outputTokens >= 150]).toEqual([true, true, true]);
        expect(callsWith(model, '[tool]')[0]?.body).toContain('$ORRERY_MEMORY/project: notes on this project');
        const { items } = await client.call('usageShow', { query: { task: id } });
        expect(items.reduce((sum, item) => sum + (item.costUsd ?? Number.NaN), 0)).toBeCloseTo(task.result!.usage.costUsd!, 8);
      });

      it('is sent back when the check fails, in the same conversation, and each prompt is sent once', async () => {
        const id = await send('back', {
          project: await project('back', 'grep -q right answer.txt || { echo "MARKER-why"; exit 1; }'),
        });
        const task = await taskEnd(client, id, END_MS);
        expect([task.verdict, task.reason, task.attempts]).toEqual(['accepted', null, 1]);
        expect(model.promptCounts()).toMatchObject({ 'MARKER-back': 1, 'MARKER-why': 1 });
        const calls = callsWith(model, '[back]');
        const last = calls.at(-1)!;
        expect([
          calls.length,
          last.body.includes('MARKER-back'),
          last.body.includes('MARKER-why'),
          last.call!.roles.filter((role) => role === 'user').length >= 2,
        ]).toEqual([4, true, true, true]);
        expect(bodiesOf(await eventsOf(client, id), 'user')).toHaveLength(2);
      });

      it('reads its input from a file, and is sent back until its answer fits the schema', async () => {
        const outputSchema = { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] };
        const input = { words: ['MARKER-of-input'] };
        const task = await taskEnd(client, await send('typed', { input, outputSchema }), END_MS);
        expect([task.verdict, task.result?.output, task.result?.summary]).toEqual(['accepted', { count: 3 }, '{"count":3}']);
        const calls = callsWith(model, '[typed]');
        expect([calls.length, calls[1]?.body.includes('MARKER-of-input'), calls[2]?.body.includes('it is not JSON')]).toEqual([
          3,
          true,
          true,
        ]);
      });

      it('is sent back until the model finds the goal met, and what that costs is counted', async () => {
        const task = await taskEnd(
          client,
          await send('goal', { project: await project('goal'), goal: 'goal.txt is there' }),
          END_MS,
        );
        expect([task.reason, task.result?.goal]).toEqual([null, { met: true, reason: 'goal.txt is there' }]);
        const calls = callsWith(model, '[goal]');
        expect([calls.length, calls.at(-1)?.body.includes('there is no goal.txt')]).toEqual([3, true]);
        expect(task.result?.usage.calls).toBe(5);
      });

      it('goes on in another task with the conversation and the files that the first one left', async () => {
        const repository = await project('on', 'test -f first.txt');
        const first = await taskEnd(client, await send('on', { project: repository }), END_MS);
        expect([first.verdict, first.reason]).toEqual(['accepted', null]);
        const body = { prompt: 'Go on. MARKER-more', continues: first.id };
        const next = await taskEnd(client, (await client.call('taskAdd', { body })).id, END_MS);
        expect([next.verdict, next.reason, next.continues, next.harness]).toEqual(['accepted', null, first.id, name]);
        const calls = callsWith(model, '[on]');
        const last = calls.at(-1)!;
        expect(
          ['MARKER-on', 'The first is done.', 'MARKER-more', 'left-by-the-first'].map((word) => last.body.includes(word)),
        ).toEqual([true, true, true, true]);
        expect([calls.length, model.promptCounts()['MARKER-on'], model.promptCounts()['MARKER-more']]).toEqual([4, 1, 1]);
        const { files, baseSha } = await client.call('taskDiff', { params: { id: next.id } });
        expect([files.map(({ path }) => path), baseSha]).toEqual([['second.txt'], first.result?.headSha]);
        const [attempt] = (await client.call('taskAttempts', { params: { id: next.id } })).items;
        expect(attempt?.stages[0]?.note).toBe(`continues ${first.id} from its result (${first.result?.resultRef})`);
      });

      it('is cancelled in the middle of a tool, with its whole tree', async () => {
        const id = await send('cancel');
        await waitFor(
          'the tool',
          () => (processesOf(tags[name]).filter(({ command }) => command.startsWith('sleep')).length >= 2 ? true : null),
          END_MS,
        );
        await client.call('taskCancel', { params: { id }, body: {} });
        const task = await taskEnd(client, id, END_MS);
        expect([task.verdict, task.cause]).toEqual(['cancelled', null]);
        expect(processesOf(tags[name])).toEqual([]);
      });

      it('passes on a line of 10 MB, cut to what an event may hold', async () => {
        const id = await send('long');
        const task = await taskEnd(client, id, END_MS);
        const texts = bodiesOf(await eventsOf(client, id), 'text').map(({ text }) => text.length);
        expect([task.verdict, task.reason, Math.max(...texts) > 60_000, Math.max(...texts) < 80_000]).toEqual([
          'accepted',
          null,
          true,
          true,
        ]);
      });

      it.for(failures)('a model that answers with %s: %s, cause %s', async ([kind, verdict, cause, reason]) => {
        const id = await send(kind);
        const task = await taskEnd(client, id, END_MS);
        expect([task.verdict, task.cause, task.reason]).toEqual([verdict, cause, expect.stringMatching(reason)]);
        expect(model.promptCounts()[`MARKER-${kind}`]).toBe(1);
      });

      it('a model that hangs: the limit of the turn ends it', async () => {
        const task = await taskEnd(client, await send('hang', { limits: { turnMs: 12_000 } }), END_MS);
        expect([task.verdict, task.cause, task.reason]).toEqual(['failed', 'timeout', expect.stringMatching(/time limit/)]);
      });

      it('sees no secret of the node, and none is written anywhere', async () => {
        const repository = await project('look');
        const look = `env; id
for file in ${place.data}/canary ${place.data}/owner.token ${place.data}/secrets.json ${place.data}/orrery.db ${place.config}/secret.key ${place.config}/config.yaml; do head -c 4096 "$file"; done
for pid in 1 $PPID ${life.pid}; do tr '\\0' '\\n' < /proc/$pid/environ; ls -l /proc/$pid/fd; done
cat /proc/*/environ | tr '\\0' '\\n' | grep -i canary
ls ${place.folder} ${place.data} ${place.config}; find / -xdev -name canary 2>/dev/null; true`;
        writeFileSync(join(repository, 'look.sh'), look);
        commitAll(repository, 'look');
        const task = await taskEnd(client, await send('look', { project: repository }), END_MS);
        expect([task.verdict, task.reason]).toEqual(['accepted', null]);
        const owner = readFileSync(join(place.data, 'owner.token'), 'utf8').trim();
        const secrets = [...Object.values(canaries), PROVIDER_KEY, owner];
        const answers = await Promise.all([
          client.call('taskShow', { params: { id: task.id } }),
          client.call('taskAttempts', { params: { id: task.id } }),
          client.call('taskDescribe', { params: { id: task.id } }),
          client.call('nodeShow'),
          client.call('nodeDoctor'),
          client.call('snapshot'),
          client.call('harnessList'),
          client.call('configExplain', { query: { key: 'providers' } }),
          client.call('eventList', { query: { after: 0, limit: 1000 } }),
          eventsOf(client, task.id),
        ]);
        const places: Record<string, string> = {
          'API answers': JSON.stringify(answers),
          'what the model was told': JSON.stringify(model.log().map(({ body }) => body)),
          'standard error': life.stderr(),
          ...Object.fromEntries(filesBelow(place.data).filter(([path]) => !/\/(canary|owner\.token)$/.test(path))),
        };
        expect(callsWith(model, '[look]').some(({ body }) => body.includes('uid='))).toBe(true);
        const found = Object.entries(places).flatMap(([where, text]) =>
          secrets.filter((secret) => text.includes(secret)).map((secret) => `${secret} in ${where}`),
        );
        expect(found).toEqual([]);
      });
    });

    it('a model whose usage limit is met, at last: limit, and what comes next waits for its end', async () => {
      const { verdict, reason, waitingFor } = await taskEnd(client, await send('usage'), END_MS);
      const next = await client.call('taskShow', { params: { id: await send('tool') } });
      await client.call('taskCancel', { params: { id: next.id }, body: {} });
      expect([verdict, next.state, next.waitingFor]).toEqual(['limit', 'queued', waitingFor]);
      expect([reason?.slice(0, 20), waitingFor?.slice(0, 18)]).toEqual(['Usage limit until 20', 'the usage limit of']);
    });

    it('leaves nothing behind', async () => {
      expect(await settledLeftovers(place, life.pid)).toEqual(nothing);
    });
  });
}

/** Files below a folder with their contents; what goes away meanwhile is passed over: other tasks of the node end beside this one. */
const filesBelow = (folder: string): [path: string, text: string][] =>
  ifThere(() => readdirSync(folder, { withFileTypes: true }), []).flatMap((entry): [string, string][] => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(path);
    return entry.isFile() ? [[path, ifThere(() => readFileSync(path, 'latin1'), '')]] : [];
  });

const ifThere = <T>(read: () => T, otherwise: T): T => {
  try {
    return read();
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return otherwise;
    throw thrown;
  }
};
