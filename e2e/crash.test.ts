/** A node that is killed: at every named point of an attempt, for a minute, by halves, together with its keeper. */
import { existsSync, readFileSync } from 'node:fs';
import process from 'node:process';
import type { TaskCreate } from '@orrery/protocol';
import { describe, expect, it } from 'vitest';
import { killPoints } from '../packages/node/src/run/kill-points.ts';
import { crashRun, type CrashRun, type Outcome } from './support/crash-run.ts';
import { nothing, settledLeftovers } from './support/leftovers.ts';
import { lentPlaces, type LentPlace } from './support/lent-places.ts';
import { NodeRefused, startLife } from './support/life.ts';
import { placeOfTest } from './support/place.ts';
import { keepersOf, processesOf } from './support/process-tree.ts';
import { makeRepository } from './support/repository.ts';
import { eventsOf, pause, printed, taskEnd, textOf, waitFor } from './support/wait.ts';

const lend = lentPlaces();
const LINES = 20;

/** Notes each prompt, prints a line every tenth of a second, answers rightly only in its second turn. */
const agent = `
prompt=$(cat)
printf 'round %s: %s\\n' "$ORRERY_ROUND" "$(printf %s "$prompt" | head -n 1)" >> prompts.txt
i=0
while [ $i -lt ${LINES} ]; do i=$((i+1)); echo "round $ORRERY_ROUND line $i"; sleep 0.1; done
echo "$ORRERY_ROUND" > answer.txt
echo "round $ORRERY_ROUND is over"
`;

const hook = (name: string, rest = ''): string =>
  `echo ${name} >> hooks.txt; echo "${name} begins"; sleep 0.2; echo "${name} goes on"\n${rest}`;

const hooks = {
  init: hook('init'),
  before: hook('before'),
  validation: hook('validation', 'test "$(cat answer.txt)" = 2 || { echo "the answer is wrong"; exit 3; }'),
  after: hook('after'),
};

const commandRun = (place: LentPlace, killAt: readonly string[], deadMs: number): CrashRun => {
  const repository = makeRepository(place, place.row, hooks);
  const request: TaskCreate & { requestId: string } = {
    prompt: 'Answer rightly. MARKER-crash',
    project: repository,
    harness: 'command',
    command: ['sh', '-c', agent],
    requestId: place.row,
  };
  return { place, request, killAt, deadMs, files: ['prompts.txt', 'hooks.txt', 'answer.txt'], repository };
};

const turn = (round: number): string =>
  `${Array.from({ length: LINES }, (_, line) => `round ${round} line ${line + 1}\n`).join('')}round ${round} is over\n`;

const said = (name: string, more = ''): string => `${name} begins\n${name} goes on\n${more}`;

/** The one right outcome, written down: not merely the same as another run's. */
const expected: Outcome = {
  verdict: 'accepted',
  cause: null,
  reason: null,
  attempts: 1,
  filesChanged: 3,
  prompts: ['Answer rightly. MARKER-crash', expect.stringContaining('the answer is wrong') as unknown as string],
  turns: [turn(1), turn(2), ''],
  stages: [
    'prepare/1 passed null',
    'open/1 passed null',
    'init/1 passed 0',
    'before/1 passed 0',
    'drive/1 passed 0',
    'validate/1 failed 3',
    'drive/2 passed 0',
    'validate/2 passed 0',
    'after/1 passed 0',
    'settle/1 passed null',
  ].flatMap((stage) => [`1/${stage.split(' ')[0]} started`, `1/${stage}`]),
  hookOutput: {
    'init/1': said('init'),
    'before/1': said('before'),
    'validate/1': said('validation', 'the answer is wrong\n'),
    'validate/2': said('validation'),
    'after/1': said('after'),
  },
  endings: [{ verdict: 'accepted', cause: null, filesChanged: 3 }],
  gapless: true,
  files: {
    'prompts.txt': 'round 1: Answer rightly. MARKER-crash\nround 2: The check of this repository failed. Its output:',
    'hooks.txt': 'init\nbefore\nvalidation\nvalidation\nafter',
    'answer.txt': '2',
  },
  left: nothing,
};

/** Every point, at the stages where it matters most. */
const places: readonly string[] = [
  'claimed',
  'attempt-recorded',
  'checkout-made',
  'prepared',
  'environment-recorded',
  'environment-opened',
  'run-recorded:drive',
  'run-launched:drive',
  'run-identity-stored:drive',
  'run-going:drive',
  'input-written:drive',
  'output-committed:drive',
  'output-committed:drive:7',
  'run-ended:drive',
  'end-recorded:drive',
  'run-finished:drive',
  'run-launched:init',
  'run-going:before',
  'run-recorded:validate',
  'output-committed:validate',
  'run-ended:validate',
  'validated',
  'run-going:drive:2',
  'input-written:drive:2',
  'output-committed:drive:29',
  'run-ended:validate:2',
  'end-recorded:after',
  'environment-closed',
  'collected',
  'settled',
  'released',
];

describe.concurrent('a node that is killed', () => {
  it('has every named point in this list', () => {
    expect(new Set(places.map((place) => place.split(':')[0]))).toEqual(new Set(killPoints));
  });

  it.for(places)('at %s: another start gives the same result, and nothing is left', async (point, context) => {
    expect(await crashRun(commandRun(lend(context), [point], 1_500))).toEqual(expected);
  });

  it('never: the result that all others are compared with', async (context) => {
    expect(await crashRun(commandRun(lend(context), [], 0))).toEqual(expected);
  });

  it('while the turn ends without it', async (context) => {
    expect(await crashRun(commandRun(lend(context), ['run-going:drive'], 5_000))).toEqual(expected);
  });

  it('again and again, also while it recovers', async (context) => {
    const points = [
      'run-launched:init',
      'run-going:drive',
      'output-committed:drive',
      'run-ended:drive',
      'input-written:drive',
      'run-ended:after',
      'collected',
      'settled',
    ];
    expect(await crashRun(commandRun(lend(context), points, 300))).toEqual(expected);
  });

  it('for 60 seconds of output: every byte is there, once', { timeout: 180_000 }, (context) => aMinuteOfOutput(lend(context)));
});

const aMinuteOfOutput = async (place: LentPlace): Promise<void> => {
  const life = await place.up();
  const text = 'x'.repeat(1_000);
  const script = `i=0; while [ $i -lt 640 ]; do i=$((i+1)); echo "$i ${text}"; sleep 0.1; done; echo "errors too" >&2; echo the end`;
  const client = place.client(life);
  const { id } = await client.call('taskAdd', {
    body: { prompt: 'talk', harness: 'command', command: ['sh', '-c', script], requestId: 'long' },
  });
  await printed(client, id, '10 x');
  process.kill(life.pid, 'SIGKILL');
  await life.ended;
  await pause(60_000);
  const next = await place.up();
  const again = place.client(next);
  const task = await taskEnd(again, id);
  const whole = textOf(await eventsOf(again, id));
  expect([task.verdict, whole.length, whole]).toEqual([
    'accepted',
    whole.length,
    `${Array.from({ length: 640 }, (_, line) => `${line + 1} ${text}\n`).join('')}the end\n`,
  ]);
  expect(await settledLeftovers(place, next.pid)).toEqual(nothing);
};

/** Begins a program that leaves its session behind and never ends by itself; a second attempt ends well. */
const stubborn = (tag: string): string[] => [
  'sh',
  '-c',
  `[ "$ORRERY_ATTEMPT" = 2 ] && { echo second attempt; exit 0; }
(setsid sh -c 'sleep ${tag} & sleep ${tag}' &) ; (env -i setsid sleep ${tag} &)
echo begun; sleep ${tag}`,
];

describe('processes of a task', () => {
  it.for(['its keeper', 'the first process inside'] as const)(
    'kill -9 of %s: the tree is gone, the task is interrupted, a retry is accepted',
    async (whom, context) => {
      const place = lend(context);
      const life = await place.up();
      const client = place.client(life);
      const tag = whom === 'its keeper' ? '98761.5' : '98762.5';
      const { id } = await client.call('taskAdd', { body: { prompt: 'stay', harness: 'command', command: stubborn(tag) } });
      await printed(client, id, 'begun');
      const keepers = await waitFor('the tree', () =>
        processesOf(tag).filter(({ command: said }) => said.startsWith('sleep')).length >= 4 ? keepersOf(place.data) : null,
      );
      process.kill(whom === 'its keeper' ? keepers.outer : keepers.inner, 'SIGKILL');
      const task = await taskEnd(client, id);
      expect([task.verdict, task.cause]).toEqual(['interrupted', 'infrastructure']);
      expect(processesOf(tag)).toEqual([]);
      const retried = await place.cli(['task', 'retry', id, '--json']);
      expect([retried.code, retried.envelope().ok]).toEqual([0, true]);
      const second = await taskEnd(client, id);
      expect([second.verdict, second.attempts, second.reason]).toEqual(['accepted', 2, null]);
      expect(await settledLeftovers(place, life.pid)).toEqual(nothing);
    },
  );

  it('kill -9 of the node and a keeper: the next start says interrupted and ends the tree', async (context) => {
    const place = lend(context);
    const life = await place.up();
    const client = place.client(life);
    const { id } = await client.call('taskAdd', { body: { prompt: 'stay', harness: 'command', command: stubborn('98763.5') } });
    await printed(client, id, 'begun');
    const { outer } = keepersOf(place.data) ?? { outer: -1 };
    await life.kill();
    process.kill(outer, 'SIGKILL');
    const next = await place.up();
    const task = await taskEnd(place.client(next), id);
    expect([task.verdict, task.cause]).toEqual(['interrupted', 'infrastructure']);
    expect(await settledLeftovers(place, next.pid)).toEqual(nothing);
  });

  it('down --now leaves the program running, and up goes on with it', async (context) => {
    const place = lend(context);
    const life = await place.up();
    const { id } = await place.client(life).call('taskAdd', {
      body: {
        prompt: 'go on',
        harness: 'command',
        command: ['sh', '-c', 'echo begun; i=0; while [ $i -lt 60 ]; do i=$((i+1)); echo line $i; sleep 0.1; done; echo over'],
      },
    });
    await printed(place.client(life), id, 'begun');
    const down = await place.cli(['down', '--now', '--json']);
    expect([down.code, down.envelope().ok, await life.ended]).toEqual([0, true, { code: 0, signal: null }]);
    expect(processesOf(place.data).length).toBeGreaterThan(0);
    const next = await place.up();
    const client = place.client(next);
    const task = await taskEnd(client, id);
    expect([task.verdict, task.attempts, textOf(await eventsOf(client, id))]).toEqual([
      'accepted',
      1,
      `begun\n${Array.from({ length: 60 }, (_, line) => `line ${line + 1}\n`).join('')}over\n`,
    ]);
    expect(await settledLeftovers(place, next.pid)).toEqual(nothing);
  });

  it('a cancel that the node did not live to carry out is carried out by the next', async (context) => {
    const place = lend(context);
    const life = await place.up();
    const client = place.client(life);
    const { id } = await client.call('taskAdd', {
      body: { prompt: 'stay', harness: 'command', command: ['sh', '-c', "trap '' TERM; echo begun; while :; do sleep 1; done"] },
    });
    await printed(client, id, 'begun');
    await client.call('taskCancel', { params: { id }, body: {} });
    await life.kill();
    const next = await place.up();
    const task = await taskEnd(place.client(next), id);
    expect([task.verdict, task.cause]).toEqual(['cancelled', null]);
    expect(await settledLeftovers(place, next.pid)).toEqual(nothing);
  });
});

describe('one node for one data directory', () => {
  it('a second one is refused and says who has it', async (context) => {
    const place = lend(context);
    const life = await place.up();
    const refused = await startLife(place, {}).then(
      () => null,
      (thrown: unknown) => (thrown instanceof NodeRefused ? thrown : null),
    );
    expect([refused?.code, (refused?.said?.['error'] as { code: string } | undefined)?.code]).toEqual([
      8,
      'node_already_running',
    ]);
    expect(JSON.stringify(refused?.said)).toContain(life.url);
    const told = await place.cli(['up', '--json', '--listen', '127.0.0.1:0']);
    expect([told.code, told.envelope().error?.code]).toEqual([8, 'node_already_running']);
    expect((await place.client(life).call('nodeShow')).state).toBe('serving');
  });

  it('a node whose environment redirects Git works on the right repositories', async (context) => {
    const place = placeOfTest({}, context);
    const decoy = makeRepository(place, 'decoy');
    const run = commandRun({ ...place, row: 'right' }, [], 0);
    const life = await place.up({
      env: {
        GIT_DIR: `${decoy}/.git`,
        GIT_WORK_TREE: decoy,
        GIT_INDEX_FILE: `${decoy}/.git/index`,
        GIT_OBJECT_DIRECTORY: `${decoy}/.git/objects`,
        GIT_ALTERNATE_OBJECT_DIRECTORIES: '/nonexistent',
        GIT_NAMESPACE: 'elsewhere',
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'core.fsmonitor',
        GIT_CONFIG_VALUE_0: `touch ${place.folder}/ran; false`,
        GIT_SSH_COMMAND: `touch ${place.folder}/ran`,
      },
    });
    const client = place.client(life);
    await client.call('projectAdd', { body: { source: run.repository } });
    const { id } = await client.call('taskAdd', { body: run.request });
    const task = await taskEnd(client, id);
    const applied = await client.call('taskApply', { params: { id }, body: { mode: 'tree' } });
    expect([
      task.verdict,
      applied.treeUpdated,
      readFileSync(`${run.repository}/answer.txt`, 'utf8'),
      existsSync(`${decoy}/answer.txt`),
      existsSync(`${place.folder}/ran`),
    ]).toEqual(['accepted', true, '2\n', false, false]);
  });
});
