/** Limits of tasks, on a real node and in the real sandbox. */
import type { Client } from '@orrery/client';
import type { EnvironmentView, Task, TaskLimits } from '@orrery/protocol';
import { beforeAll, describe, expect, it } from 'vitest';
import { hasBubblewrap } from './support/bubblewrap.ts';
import { codeOf, commandsOn, sh, verdictOf } from './support/commands.ts';
import { settledEnvironment } from './support/environments.ts';
import { nothing, settledLeftovers } from './support/leftovers.ts';
import type { Life } from './support/life.ts';
import { placeOfSuite } from './support/place.ts';
import { makeRepository } from './support/repository.ts';
import { taskEnd, waitFor } from './support/wait.ts';

const place = placeOfSuite();
let life: Life;
let client: Client;

beforeAll(async () => {
  place.configure({ queue: { parallel: 8, perProject: 8 } });
  life = await place.up();
  client = place.client(life);
});

const { send, conduct, project, run } = commandsOn(place, () => client);

describe.concurrent('limits end what passes them, each with its own word', () => {
  const sleeper = 'echo begun; sleep 600';

  it('the whole attempt: failed, timeout, exit 5', async () => {
    const repository = makeRepository(place, 'limit-wall');
    const answer = await run(repository, sleeper, '--limit-wall', '3s');
    expect([answer.code, answer.envelope().error?.code]).toEqual([5, 'deadline']);
    const { items } = await client.call('taskList', { query: { project: repository } });
    expect(verdictOf(items[0]!)).toEqual(['failed', 'timeout']);
  });

  it('a turn: failed, timeout', async () => {
    const task = await conduct(sleeper, { limits: { turnMs: 1_500 } });
    expect([...verdictOf(task), task.reason]).toEqual(['failed', 'timeout', expect.stringContaining('time limit')]);
  });

  it('a hook before the work: failed, timeout', async () => {
    const repository = await project('limit-hook', { before: 'echo waiting; sleep 600' });
    const task = await conduct('echo never', { project: repository, limits: { hookMs: 1_500 } });
    expect(verdictOf(task)).toEqual(['failed', 'timeout']);
  });

  it('a validation: failed, timeout, and said to have timed out', async () => {
    const repository = await project(
      'limit-validation',
      { validation: 'echo checking; sleep 600' },
      'validation: { maxRetries: 0 }',
    );
    const task = await conduct('echo work > work.txt', { project: repository, limits: { hookMs: 1_500 } });
    expect([...verdictOf(task), task.reason, task.result?.validation]).toEqual([
      'failed',
      'timeout',
      expect.stringContaining('validation.sh ended by its time limit'),
      { passed: false, exitCode: null, timedOut: true, limit: null, output: 'checking\n', outputBytes: 9 },
    ]);
  });

  it('memory of a validation: limit, and the agent is told before', async () => {
    const validation = 'grep -q small work.txt && exit 0; exec perl -e \'my @a; push @a, "x" x 10_000_000 while 1\'';
    const limits = { memoryBytes: 200_000_000 };
    const settings = 'validation: { maxRetries: 1 }';
    const large = await project('limit-validation-memory', { validation }, settings);
    const task = await conduct('echo large > work.txt; cat >> told.txt', { project: large, limits });
    expect([...verdictOf(task), task.reason, task.result?.validation?.limit]).toEqual([
      'limit',
      'memory',
      expect.stringContaining('validation.sh reached the memory limit'),
      'memory',
    ]);
    const small = await project('limit-validation-mended', { validation }, settings);
    const mending = 'grep -q "validation.sh reached the memory limit" && echo small > work.txt || echo large > work.txt';
    expect(verdictOf(await conduct(mending, { project: small, limits }))).toEqual(['accepted', null]);
  });

  it('output: limit, exit 10', async () => {
    const repository = makeRepository(place, 'limit-output');
    const answer = await run(repository, 'yes "a line of output"', '--limit-output', '1M');
    expect([answer.code, answer.envelope().error?.code]).toEqual([10, 'limit_reached']);
    const { items } = await client.call('taskList', { query: { project: repository } });
    expect([...verdictOf(items[0]!), items[0]?.reason]).toEqual(['limit', 'output', expect.stringContaining('--limit-output')]);
  });

  it('memory: limit', async () => {
    const task = await conduct('exec perl -e \'my @a; push @a, "x" x 10_000_000 while 1\'', {
      limits: { memoryBytes: 200_000_000 },
    });
    expect([...verdictOf(task), task.reason]).toEqual(['limit', 'memory', expect.stringContaining('--limit-memory')]);
  });

  it('processor time: limit', async () => {
    const task = await conduct('while :; do :; done', { limits: { cpuSeconds: 1 } });
    expect([...verdictOf(task), task.reason]).toEqual(['limit', 'cpu', expect.stringContaining('--limit-cpu')]);
  });

  it('a task that met a limit is tried again as the same task', async () => {
    const id = await send('[ "$ORRERY_ATTEMPT" = 2 ] || yes; echo short', { limits: { outputBytes: 200_000 } });
    expect((await taskEnd(client, id)).verdict).toBe('limit');
    const retried = await place.cli(['task', 'retry', id, '--json']);
    expect([retried.code, (retried.envelope().result as { task: Task }).task.id]).toEqual([0, id]);
    const task = await taskEnd(client, id);
    expect([task.verdict, task.attempts]).toEqual(['accepted', 2]);
  });

  it('nobody may ask for more than the operator set', async () => {
    expect(
      await codeOf(
        client.call('taskAdd', {
          body: { prompt: 'x', harness: 'command', command: sh('true'), limits: { wallMs: 99 * 3_600_000 } },
        }),
      ),
    ).toBe('widening_refused');
  });
});

const withBubblewrap = hasBubblewrap();
const MB = 1024 * 1024;

/** A program that reaches each limit, and what names it in the reason. */
const programs: readonly (readonly [cause: string, script: string, limits: TaskLimits, option: string])[] = [
  ['cpu', 'while :; do :; done', { cpuSeconds: 1 }, '--limit-cpu'],
  ['memory', 'exec perl -e \'my @a; push @a, "x" x 10_000_000 while 1\'', { memoryBytes: 200 * MB }, '--limit-memory'],
  [
    'processes',
    'i=0; while [ $i -lt 80 ]; do sleep 300 & i=$((i+1)); done; wait; exit 1',
    { processes: 30 },
    '--limit-processes',
  ],
  ['output', 'yes "a line of output"', { outputBytes: MB }, '--limit-output'],
  // One file; many files in the checkout; many in the home, by a program that ends before anybody looked.
  ['disk', 'head -c 30000000 /dev/zero > file', { diskBytes: 10 * MB }, '--limit-disk'],
  [
    'disk',
    'i=0; while :; do i=$((i+1)); head -c 1000000 /dev/zero > file.$i; sleep 0.05; done',
    { diskBytes: 20 * MB },
    '--limit-disk',
  ],
  ['disk', 'for i in 1 2 3 4 5; do head -c 4000000 /dev/zero > "$HOME/file.$i"; done', { diskBytes: 10 * MB }, '--limit-disk'],
];

describe.concurrent.each(['sandbox', 'bubblewrap', 'local'])('on %s each limit is told apart', (backend) => {
  it.skipIf(backend === 'bubblewrap' && !withBubblewrap).for(programs)(
    '%s, reached by %s',
    { timeout: 240_000 },
    async ([cause, script, limits, option], { expect: expects }) => {
      const repository = await project(`told-${backend}-${String(programs.findIndex((one) => one[1] === script))}`);
      const task = await taskEnd(client, await send(script, { backend, project: repository, limits }), 200_000);
      expects([task.verdict, task.cause, task.reason]).toEqual(['limit', cause, expects.stringContaining(option)]);
    },
  );
});

it('a hook that reaches a limit ends the task with that limit', async () => {
  const repository = await project('limit-in-hook', { before: 'yes' }, 'limits: { cpuSeconds: 1 }');
  const task = await conduct('true', { project: repository });
  expect(task.verdict).toBe('limit');
  expect(['cpu', 'output']).toContain(task.cause);
  expect(task.reason).toContain('before.sh reached the');
});

describe('when all of that is over', () => {
  it('nothing is left behind', async () => {
    expect(await settledLeftovers(place, life.pid)).toEqual(nothing);
  });
});

describe('disk of an environment of its own', () => {
  it('that its set-up passed: it is stopped with the reason, and again when it is started; retention says when it goes', async () => {
    place.configure({
      queue: { parallel: 8, perProject: 8 },
      limits: { diskBytes: 10 * MB },
      retention: { environmentDays: 30 },
    });
    const repository = makeRepository(place, 'disk-of-its-own', { init: 'head -c 30000000 /dev/zero > "$HOME/file"' });
    await client.call('projectAdd', { body: { source: repository } });
    await waitFor('the limit is in force', async () =>
      (await client.call('configExplain', { query: { key: 'limits.diskBytes' } })).value === 10 * MB ? true : null,
    );
    const { id } = await client.call('environmentCreate', { body: { project: repository, name: 'full' } });
    const isStopped = ({ state, operation }: EnvironmentView): boolean => state === 'stopped' && operation === null;
    const full = await settledEnvironment(client, id, isStopped);
    expect([full.reason, full.diskBytes! > full.diskLimitBytes!]).toEqual([expect.stringContaining('disk'), true]);
    await client.call('environmentStart', { params: { id }, body: {} });
    const again = await settledEnvironment(client, id, isStopped);
    expect(again.reason).toContain('disk');
    expect((await place.cli(['env', 'list'])).stdout).toMatch(/used +goes\n.*full.* in 30 days/);
  });
});
