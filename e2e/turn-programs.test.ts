/** Programs of an operator's own, started for each turn: in tasks, in sessions, and when the node dies. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import type { Client } from '@orrery/client';
import { start, type ScriptedModel } from '@orrery/scripted-model';
import { afterAll, describe, expect, it } from 'vitest';
import { configFor, PROVIDER_KEY, scriptsOf } from './support/agents.ts';
import { crashRows, type Ground } from './support/crash-rows.ts';
import { nothing, settledLeftovers } from './support/leftovers.ts';
import { placeOfTest, ROOT } from './support/place.ts';
import { keepersOf } from './support/process-tree.ts';
import { makeRepository } from './support/repository.ts';
import { logOf, sessionIn, texts, turnOver } from './support/sessions.ts';
import { bodiesOf, eventsOf, taskEnd, textOf, waitFor } from './support/wait.ts';

/** Notes each prompt, whether it was gone on with, and says what it was told; `[slow]` takes a second, `[wait]` does not end. */
const script = `
import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
const file = process.env.ORRERY_HARNESS_TURN;
const spec = JSON.parse(readFileSync(file, 'utf8'));
const say = (line) => process.stdout.write(JSON.stringify(line) + '\\n');
const mode = (statSync(file).mode & 0o777).toString(8);
appendFileSync(spec.workspaceDir + '/prompts.txt', spec.prompt.split('\\n')[0] + '\\n');
const memory = spec.sessionDir + '/turns';
const turns = existsSync(memory) ? readFileSync(memory, 'utf8').split('\\n').filter(Boolean).length : 0;
appendFileSync(memory, spec.prompt.split('\\n')[0] + '\\n');
console.log('a line of its log');
const message = (role, ...parts) => say({ type: 'message', message: { role, parts } });
message('ROLE_AGENT', { type: 'thinking', text: 'I look.' }, { type: 'toolCall', id: 'c1', name: 'ls', input: { path: '.' } });
message('ROLE_USER', { type: 'toolResult', callId: 'c1', name: 'ls', text: 'nothing', isError: false });
if (spec.prompt.includes('[wait]')) setInterval(() => undefined, 1000);
else {
  if (spec.prompt.includes('[slow]')) await new Promise((resolve) => setTimeout(resolve, 1000));
  if (spec.prompt.includes('[fail]')) { say({ type: 'error', message: 'I cannot do this.' }); process.exit(0); }
  if (spec.prompt.includes('[mute]')) process.exit(0);
  if (!spec.prompt.includes('[wrong]')) writeFileSync(spec.workspaceDir + '/answer.txt', 'right\\n');
  const text = [spec.resume, turns, mode, spec.model, spec.credentials.length, spec.sessionId.length > 3].join(' ');
  message('ROLE_AGENT', { text });
  say({ type: 'usage', models: [{ provider: 'x', model: 'y', inputTokens: 12, outputTokens: 33 }] });
  say({ type: 'result', text });
}
`;

const shell = `
spec=$(cat "$ORRERY_HARNESS_TURN")
case "$spec" in *'"resume":true'*) resume=yes ;; *) resume=no ;; esac
echo "resumed: $resume" >> shell.txt
printf '{"type":"message","message":{"role":"ROLE_AGENT","parts":[{"type":"text","text":"resumed: %s"}]}}\\n' $resume
printf '{"type":"result","text":""}\\n'
`;

const nodeFiles = dirname(dirname(process.execPath));

const guided = 'anthropic/claude-sonnet-4-5';

let model: ScriptedModel | null = null;
afterAll(() => model?.close());

const harnessesIn = (programs: string): object => ({
  mine: { command: [process.execPath, join(programs, 'turn.mjs')], files: [programs, nodeFiles], callsModel: false },
  shell: { command: ['/bin/sh', join(programs, 'turn.sh')], files: [programs], callsModel: false, description: 'In sh' },
  missing: { command: ['/nowhere/at-all'], callsModel: false },
  guided: { command: [process.execPath, join(programs, 'guide.mjs')], files: [programs, nodeFiles], model: guided },
});

/** One node for all of them, until one lets it die. */
const row = crashRows(async (place) => {
  const steps = ['First answer.', 'Second answer.'].map((text) => ({ text, on: 'any' }));
  model ??= await start({ script: scriptsOf({ guide: steps }) });
  const programs = join(place.folder, 'programs');
  mkdirSync(programs);
  writeFileSync(join(programs, 'turn.mjs'), script);
  writeFileSync(join(programs, 'turn.sh'), shell);
  const [, guide = ''] = /```js\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'docs/guides/harnesses.md'), 'utf8')) ?? [];
  writeFileSync(join(programs, 'guide.mjs'), guide);
  place.configure(configFor(model, { harness: 'mine', harnesses: harnessesIn(programs) }));
  makeRepository(place, 'repository', { validation: 'grep -q right answer.txt || { echo MARKER-why; exit 1; }' });
  makeRepository(place, 'guided', {});
});

/** A repository of the place that its node knows. */
const known = async ({ place, client }: Ground, name = 'repository'): Promise<string> => {
  const repository = join(place.folder, 'repositories', name);
  await client().call('projectAdd', { body: { source: repository } });
  return repository;
};

const run = async (client: Client, body: { prompt: string } & Record<string, unknown>) => {
  const { id } = await client.call('taskAdd', { body });
  const task = await taskEnd(client, id, 100_000);
  return { task, events: await eventsOf(client, id) };
};

describe('a turn program in a task', { timeout: 240_000 }, () => {
  it('does its turns: sent back in the same conversation, gone on with by another task, in two languages', () =>
    row(async (ground) => {
      const repository = await known(ground);
      const client = ground.client();
      const before = (await client.call('harnessList')).items.find(({ id }) => id === 'mine');
      expect([before?.provenance, before?.verified]).toEqual(['config.yaml', false]);
      const { task, events } = await run(client, { prompt: 'Do it. [wrong]', project: repository });
      expect([task.verdict, task.reason, task.attempts]).toEqual(['accepted', null, 1]);
      expect(textOf(events)).toContain('false 0 600  0 true');
      expect(textOf(events)).toContain('true 1 600  0 true');
      expect([textOf(events).split('true 1 600').length - 1, bodiesOf(events, 'usage').length]).toEqual([1, 2]);
      expect(bodiesOf(events, 'tool.call').map(({ tool, input }) => [tool, input])).toEqual([
        ['ls', '{"path":"."}'],
        ['ls', '{"path":"."}'],
      ]);
      expect(bodiesOf(events, 'notice').some(({ text }) => text.includes('a line of its log'))).toBe(true);
      const next = await run(client, { prompt: 'Go on.', continues: task.id });
      expect([next.task.verdict, next.task.reason, textOf(next.events)]).toEqual(['accepted', null, 'true 2 600  0 true']);
      const after = (await client.call('harnessList')).items.find(({ id }) => id === 'mine');
      expect(after?.verified).toBe(true);
      const other = await run(client, { prompt: 'Do it.', harness: 'shell' });
      expect([other.task.verdict, textOf(other.events)]).toEqual(['accepted', 'resumed: no']);
    }));

  it.each([
    ['[fail]', 'mine', /I cannot do this/],
    ['[mute]', 'mine', /without a result/],
    ['missing', 'missing', /no such program/],
  ])('%s fails, and says why', (prompt, harness, reason) =>
    row(async ({ client }) => {
      const { task } = await run(client(), { prompt: `Do it. ${prompt}`, harness });
      expect([task.verdict, task.cause, task.reason]).toEqual(['failed', 'agent', expect.stringMatching(reason)]);
    }),
  );

  it('the one of the guide asks the model through the gateway, remembers, and sees no key', () =>
    row(async (ground) => {
      const repository = await known(ground, 'guided');
      const client = ground.client();
      const first = await run(client, { prompt: 'Say it. [guide]', project: repository, harness: 'guided' });
      expect([first.task.reason, first.task.result?.summary, first.task.result?.usage.calls]).toEqual([null, 'First answer.', 1]);
      const next = await run(client, { prompt: 'And again.', continues: first.task.id });
      expect([next.task.reason, textOf(next.events)]).toEqual([null, 'Second answer.']);
      expect(JSON.stringify([first, next])).not.toContain(PROVIDER_KEY);
      expect(model?.log().at(-1)?.body).toContain('First answer.');
    }));

  it('with the name of a built-in one keeps the node from starting', async () => {
    const place = placeOfTest({ harnesses: { claude: { command: ['/bin/true'], callsModel: false } } });
    await expect(place.up()).rejects.toThrow(/has the name of a built-in one/);
  });
});

const points = [
  'session-run-recorded',
  'session-run-launched',
  'session-run-going',
  'session-output-committed::1',
  'session-output-committed::2',
  'session-ended',
];

describe('a turn program in a session', { timeout: 240_000 }, () => {
  const begin = (ground: Ground, requestId: string, prompt?: string) =>
    ground.client().call('sessionCreate', {
      body: {
        ...{ project: join(ground.place.folder, 'repositories/repository'), mode: 'all', requestId },
        ...(prompt === undefined ? {} : { prompt }),
      },
    });
  const say = async (client: Client, id: string, text: string) => {
    const { id: turn } = await client.call('turnAdd', { params: { id }, body: { text } });
    return turnOver(client, id, turn);
  };

  const ends = async ({ place, client, life }: Ground, id: string): Promise<void> => {
    await client().call('sessionEnd', { params: { id }, body: {} });
    const { environment } = await sessionIn(client(), id, ['ended']);
    await client().call('environmentDelete', { params: { id: environment.id }, query: { salvage: 'true' }, timeoutMs: 60_000 });
    expect(await settledLeftovers(place, life().pid)).toEqual(nothing);
  };

  it('sleeps between turns, goes on with its conversation, and is stopped', () =>
    row(async (ground) => {
      await known(ground);
      const client = ground.client();
      const { id } = await begin(ground, 'sleeps');
      expect((await sessionIn(client, id, ['dormant'])).generation).toBe(0);
      expect((await say(client, id, 'One.')).outcome).toBe('success');
      expect((await sessionIn(client, id, ['dormant'])).generation).toBe(1);
      expect(await say(client, id, 'Two. [fail]')).toMatchObject({ outcome: 'error', reason: 'I cannot do this.' });
      const { id: waits } = await client.call('turnAdd', { params: { id }, body: { text: 'Three. [wait]' } });
      await waitFor('the third turn', async () =>
        (await logOf(client, id)).filter(({ body }) => body.kind === 'tool.call').length >= 3 ? true : null,
      );
      await client.call('sessionInterrupt', { params: { id }, body: {} });
      expect((await turnOver(client, id, waits)).outcome).toBe('cancelled');
      expect((await say(client, id, 'Four.')).outcome).toBe('success');
      const log = await logOf(client, id);
      expect(texts(log)).toEqual(['false 0 600  0 true', 'true 3 600  0 true']);
      expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, index) => index + 1));
      await ends(ground, id);
    }));

  it.each(points)('a node that dies at %s starts it once for each input', (point) =>
    row(async (ground) => {
      await known(ground);
      await ground.dies(point, () => begin(ground, point, 'One. [slow]'));
      const { id } = await begin(ground, point, 'One. [slow]');
      const client = ground.client();
      const [turn] = (await client.call('turnList', { params: { id } })).items;
      expect((await turnOver(client, id, turn!.id)).outcome).toBe('success');
      expect((await say(client, id, 'Two.')).outcome).toBe('success');
      const log = await logOf(client, id);
      // Each one counted its starts: a second start of the first input would show here.
      expect(texts(log)).toEqual(['false 0 600  0 true', 'true 1 600  0 true']);
      expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, index) => index + 1));
      await ends(ground, id);
    }),
  );

  it('that may have begun, and whose keeper died with the node, leaves its input to a person', () =>
    row(async (ground) => {
      await known(ground);
      await ground.ends('session-run-going', () => begin(ground, 'keeper', 'One. [wait]'));
      process.kill(keepersOf(ground.place.data)!.outer, 'SIGKILL');
      await ground.begins();
      const { id } = await begin(ground, 'keeper', 'One. [wait]');
      const client = ground.client();
      const [turn] = (await client.call('turnList', { params: { id } })).items;
      expect((await turnOver(client, id, turn!.id)).state).toBe('uncertain');
      await client.call('turnDecide', { params: { id, turn: turn!.id }, body: { decision: 'discard' } });
      expect((await say(client, id, 'Two.')).outcome).toBe('success');
    }));
});
