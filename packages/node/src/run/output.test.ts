import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OrreryError, Task, TaskIntent } from '@orrery/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeMachine, createLife, type FakeMachine } from '../../test/fake-machine.ts';
import { lineHarness, runParts, waitForEnd } from '../../test/run-parts.ts';
import { systemClock } from '../kernel/clock.ts';
import { INPUT_BYTES, OUTPUT_BYTES } from '../kernel/limits.ts';
import { startInlineWriter } from '../store/sqlite/inline-writer.ts';
import { openStore } from '../store/sqlite/open-store.ts';
import { createRunLoop } from './loop.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };
const count = { type: 'object', required: ['count'], properties: { count: { type: 'integer' } }, additionalProperties: false };

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orrery-output-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/** A task whose agent says these lines, one answer for each turn; the last one again and again. */
const run = async (
  more: Partial<TaskIntent>,
  ...answers: string[]
): Promise<{ task: Task; machine: FakeMachine; stages: readonly string[] }> => {
  let turn = 0;
  const machine = createFakeMachine(({ spec }) =>
    'path' in spec
      ? { stdout: '', exitCode: 0 }
      : { stdout: `thinking\n${answers[Math.min(turn++, answers.length - 1)] ?? ''}\n`, exitCode: 0 },
  );
  const store = await openStore({
    file: join(directory, 'orrery.db'),
    clock: systemClock,
    log: silent,
    startWriter: startInlineWriter,
  });
  try {
    const harness = { ...lineHarness, provider: 'anthropic' };
    const { parts, tasks, intent } = await runParts({
      store,
      directory,
      machine,
      life: createLife(),
      harness,
      generation: 'one',
    });
    const { id } = await tasks.add({ ...intent('count them'), ...more });
    const loop = createRunLoop(parts);
    loop.start();
    await waitForEnd(store, id);
    await loop.drain();
    const rows = await store.read.selectFrom('stage').select(['name', 'round', 'state']).orderBy('started_at').execute();
    return { task: await tasks.show(id), machine, stages: rows.map(({ name, round, state }) => `${name} ${round} ${state}`) };
  } finally {
    await store.close();
  }
};

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'none',
    (thrown: unknown) => (thrown as OrreryError).code,
  );

describe('a task with an output schema', () => {
  it('tells the agent of it, sends it back with what does not fit, and has the value in its result', async () => {
    const { task, machine, stages } = await run({ outputSchema: count }, 'three', '{"count":"3"}', '{"count":3}');
    expect([task.verdict, task.result?.output, task.result?.summary]).toEqual(['accepted', { count: 3 }, '{"count":3}']);
    const [first, second, third] = machine.written;
    expect(first).toBe(
      `count them\n\nWhen you are done, your last message must be one JSON value and nothing else, without a code fence, that fits this JSON Schema:\n${JSON.stringify(count)}`,
    );
    expect(second).toContain('- it is not JSON\n');
    expect(third).toContain('- /count must be integer\n');
    expect(stages.filter((stage) => /^(output|validate)/.test(stage))).toEqual([
      'output 1 failed',
      'output 2 failed',
      'output 3 passed',
      'validate 3 passed',
    ]);
  });

  it('is rejected when the answer still does not fit after the last retry', async () => {
    const { task, machine } = await run({ outputSchema: count }, '{"count":1,"more":2}');
    expect([task.verdict, task.result?.output, machine.written.length]).toEqual(['rejected', null, 4]);
    expect(task.reason).toBe(
      'The answer still does not fit the output schema after 4 turns: the value must NOT have additional properties.',
    );
  });

  it('takes no answer beyond its bound', async () => {
    const { task } = await run({ outputSchema: { type: 'string' } }, JSON.stringify('x'.repeat(OUTPUT_BYTES)));
    expect(task.reason).toContain(`it is longer than ${OUTPUT_BYTES} bytes`);
  });
});

describe('a task with an input', () => {
  it('names the file to its agent', async () => {
    const { task, machine } = await run({ input: { files: ['a'] }, inputSchema: { required: ['files'] } }, 'done');
    expect(task.verdict).toBe('accepted');
    expect(machine.written[0]).toMatch(
      /^count them\n\nThe input of this task is the JSON file \/provided\/input-att_\w+\.json\.$/,
    );
  });

  it('is refused before it is queued when input or schemas are not what they should be', async () => {
    expect(await codeOf(run({ input: { other: 1 }, inputSchema: { required: ['files'] } }))).toBe('invalid_input');
    expect(await codeOf(run({ inputSchema: {} }))).toBe('invalid_input');
    expect(await codeOf(run({ outputSchema: { type: 'nothing' } }))).toBe('invalid_input');
    expect(await codeOf(run({ input: 'x'.repeat(INPUT_BYTES) }))).toBe('input_too_large');
  });
});
