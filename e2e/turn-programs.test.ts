/** Programs of an operator's own, started for each turn: in tasks, in sessions, and when the node dies. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import type { Client } from '@orrery/client';
import { start } from '@orrery/scripted-model';
import { describe, expect, it, onTestFinished } from 'vitest';
import { configFor, PROVIDER_KEY, scriptsOf } from './support/agents.ts';
import { asked, died } from './support/dying.ts';
import { nothing, settledLeftovers } from './support/leftovers.ts';
import { placeOfTest, ROOT, type Place } from './support/place.ts';
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

const prepared = (more: object = {}): { place: Place; repository: string } => {
  const place = placeOfTest();
  const programs = join(place.folder, 'programs');
  mkdirSync(programs);
  writeFileSync(join(programs, 'turn.mjs'), script);
  writeFileSync(join(programs, 'turn.sh'), shell);
  place.configure({
    harness: 'mine',
    harnesses: {
      mine: { command: [process.execPath, join(programs, 'turn.mjs')], files: [programs, nodeFiles], callsModel: false },
      shell: { command: ['/bin/sh', join(programs, 'turn.sh')], files: [programs], callsModel: false, description: 'In sh' },
      missing: { command: ['/nowhere/at-all'], callsModel: false },
    },
    ...more,
  });
  return {
    place,
    repository: makeRepository(place, 'repository', { validation: 'grep -q right answer.txt || { echo MARKER-why; exit 1; }' }),
  };
};

const run = async (client: Client, body: { prompt: string } & Record<string, unknown>) => {
  const { id } = await client.call('taskAdd', { body });
  const task = await taskEnd(client, id, 100_000);
  return { task, events: await eventsOf(client, id) };
};

describe('a turn program in a task', { timeout: 240_000 }, () => {
  it('does its turns: sent back in the same conversation, gone on with by another task, in two languages', async () => {
    const { place, repository } = prepared();
    const client = place.client(await place.up());
    await client.call('projectAdd', { body: { source: repository } });
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
  });

  it.each([
    ['[fail]', 'mine', /I cannot do this/],
    ['[mute]', 'mine', /without a result/],
    ['missing', 'missing', /no such program/],
  ])('%s fails, and says why', async (prompt, harness, reason) => {
    const { place } = prepared();
    const client = place.client(await place.up());
    const { task } = await run(client, { prompt: `Do it. ${prompt}`, harness });
    expect([task.verdict, task.cause, task.reason]).toEqual(['failed', 'agent', expect.stringMatching(reason)]);
  });

  it('the one of the guide asks the model through the gateway, remembers, and sees no key', async () => {
    const model = await start({
      script: scriptsOf({
        guide: [
          { text: 'First answer.', on: 'any' },
          { text: 'Second answer.', on: 'any' },
        ],
      }),
    });
    onTestFinished(() => model.close());
    const guide = readFileSync(join(ROOT, 'docs/guides/harnesses.md'), 'utf8');
    const [, program = ''] = /```js\n([\s\S]*?)```/.exec(guide) ?? [];
    const place = placeOfTest();
    const folder = join(place.folder, 'guide');
    mkdirSync(folder);
    writeFileSync(join(folder, 'turn.mjs'), program);
    const guided = {
      command: [process.execPath, join(folder, 'turn.mjs')],
      files: [folder, nodeFiles],
      model: 'anthropic/claude-sonnet-4-5',
    };
    place.configure(configFor(model, { harness: 'guided', harnesses: { guided } }));
    const client = place.client(await place.up());
    const repository = makeRepository(place, 'guided', {});
    await client.call('projectAdd', { body: { source: repository } });
    const first = await run(client, { prompt: 'Say it. [guide]', project: repository });
    expect([first.task.reason, first.task.result?.summary, first.task.result?.usage.calls]).toEqual([null, 'First answer.', 1]);
    const next = await run(client, { prompt: 'And again.', continues: first.task.id });
    expect([next.task.reason, textOf(next.events)]).toEqual([null, 'Second answer.']);
    expect(JSON.stringify([first, next])).not.toContain(PROVIDER_KEY);
    expect(model.log().at(-1)?.body).toContain('First answer.');
  });

  it('with the name of a built-in one keeps the node from starting', async () => {
    const { place } = prepared({ harnesses: { claude: { command: ['/bin/true'], callsModel: false } } });
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
  const begin = (client: Client, repository: string, prompt?: string) =>
    client.call('sessionCreate', {
      body: { project: repository, mode: 'all', requestId: 'one', ...(prompt === undefined ? {} : { prompt }) },
    });
  const say = async (client: Client, id: string, text: string) => {
    const { id: turn } = await client.call('turnAdd', { params: { id }, body: { text } });
    return turnOver(client, id, turn);
  };

  it('sleeps between turns, goes on with its conversation, and is stopped', async () => {
    const { place, repository } = prepared();
    const life = await place.up();
    const client = place.client(life);
    await client.call('projectAdd', { body: { source: repository } });
    const { id } = await begin(client, repository);
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
    await client.call('sessionEnd', { params: { id }, body: {} });
    const { environment } = await sessionIn(client, id, ['ended']);
    await client.call('environmentDelete', { params: { id: environment.id }, query: { salvage: 'true' }, timeoutMs: 60_000 });
    expect(await settledLeftovers(place, life.pid)).toEqual(nothing);
  });

  it.each(points)('a node that dies at %s starts it once for each input', async (point) => {
    const { place, repository } = prepared();
    const first = await place.up({ killAt: point });
    const before = place.client(first);
    await before.call('projectAdd', { body: { source: repository } });
    await asked(begin(before, repository, 'One. [slow]'));
    await died(first, point);
    const life = await place.up();
    const client = place.client(life);
    const { id } = await begin(client, repository, 'One. [slow]');
    const [turn] = (await client.call('turnList', { params: { id } })).items;
    expect((await turnOver(client, id, turn!.id)).outcome).toBe('success');
    expect((await say(client, id, 'Two.')).outcome).toBe('success');
    const log = await logOf(client, id);
    // Each one counted its starts: a second start of the first input would show here.
    expect(texts(log)).toEqual(['false 0 600  0 true', 'true 1 600  0 true']);
    expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, index) => index + 1));
  });

  it('that may have begun, and whose keeper died with the node, leaves its input to a person', async () => {
    const { place, repository } = prepared();
    const first = await place.up({ killAt: 'session-run-going' });
    const before = place.client(first);
    await before.call('projectAdd', { body: { source: repository } });
    await asked(begin(before, repository, 'One. [wait]'));
    await died(first, 'session-run-going');
    process.kill(keepersOf(place.data)!.outer, 'SIGKILL');
    const client = place.client(await place.up());
    const { id } = await begin(client, repository, 'One. [wait]');
    const [turn] = (await client.call('turnList', { params: { id } })).items;
    expect((await turnOver(client, id, turn!.id)).state).toBe('uncertain');
    await client.call('turnDecide', { params: { id, turn: turn!.id }, body: { decision: 'discard' } });
    expect((await say(client, id, 'Two.')).outcome).toBe('success');
  });
});
