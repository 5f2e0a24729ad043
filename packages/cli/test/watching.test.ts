import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { inert } from '../src/inert.ts';
import { envelopeOf, useBench } from './use-bench.ts';

const { hold, set, run } = useBench();

describe('Ctrl-C in run', () => {
  const hanging = ['run', 'hang on', '--no-color'];

  it('once stops watching, says that the task goes on and how to come back', async () => {
    const printed = await run(hanging, { onStop: (send, count) => count === 1 && setTimeout(send, 50, 'SIGINT') });
    const [task] = hold.bench.node.state.tasks;
    expect({ exit: printed.exit, state: task?.state, tail: printed.stderr.trimEnd().split('\n').slice(-3) }).toEqual({
      exit: 130,
      state: 'running',
      tail: [
        '  Stopped watching; the task goes on. Come back with:',
        `  orrery task log ${task?.id} --follow`,
        '  Ctrl-C again now cancels the task.',
      ],
    });
  });

  it('twice cancels it after saying so', async () => {
    const printed = await run(hanging, {
      sleep: () => new Promise(() => undefined),
      onStop: (send) => setTimeout(send, 50, 'SIGINT'),
    });
    const [task] = hold.bench.node.state.tasks;
    expect({ exit: printed.exit, state: task?.state, tail: printed.stderr.trimEnd().split('\n').at(-1) }).toEqual({
      exit: 130,
      state: 'cancelled',
      tail: `  Cancelling ${task?.id} and every process of it.`,
    });
  });

  it('is told apart from SIGTERM, and is an envelope with --json', async () => {
    const printed = await run([...hanging, '--json'], { onStop: (send) => setTimeout(send, 50, 'SIGTERM') });
    expect({ exit: printed.exit, error: envelopeOf(printed)['error'] }).toEqual({
      exit: 143,
      error: {
        code: 'stopped_watching',
        message: 'Stopped watching; the task goes on.',
        exitCode: 143,
        retryable: false,
        rule: 'Watching a task does not keep it alive.',
        fix: 'orrery task log tsk_01kjmgw7v80000000000000000 --follow',
        details: { task: 'tsk_01kjmgw7v80000000000000000', cancelled: false },
      },
    });
  });
});

describe('watching', () => {
  it('survives cut connections and shows each event once', async () => {
    const { node } = hold.bench;
    const watched = run(['run', 'hang on', '--jsonl']);
    while (node.state.tasks.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const id = node.state.tasks[0]?.id ?? '';
    for (let number = 1; number <= 5; number++) {
      node.append(id, { kind: 'text', row: `t${number}`, text: `line ${number}` });
      await new Promise((resolve) => setTimeout(resolve, 10));
      node.cutStreams();
    }
    Object.assign(node.state.tasks[0] ?? {}, { state: 'accepted', verdict: 'accepted' });
    node.append(id, {
      kind: 'task.ended',
      verdict: 'accepted',
      cause: null,
      reason: null,
      filesChanged: 0,
      usage: { calls: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0, costUsd: 0 },
    });
    const printed = await watched;
    const events = printed.stdout
      .trimEnd()
      .split('\n')
      .slice(0, -1)
      .map((line) => (JSON.parse(line) as { sequence: number }).sequence);
    expect({ exit: printed.exit, events }).toEqual({ exit: 0, events: events.map((_, index) => index + 1) });
    expect(events.length).toBe(node.state.events.length);
  });

  it('waits no longer than its timeout, and the task goes on', async () => {
    set('tasks');
    const running = hold.bench.node.state.tasks.find(({ state }) => state === 'running');
    const printed = await run(['task', 'wait', running?.id ?? '', '--timeout', '30ms', '--json']);
    expect({ exit: printed.exit, code: (envelopeOf(printed)['error'] as { code: string }).code, state: running?.state }).toEqual({
      exit: 5,
      code: 'deadline',
      state: 'running',
    });
  });

  it('of a node shows its events in the foreground until it stops', async () => {
    const { node } = hold.bench;
    let stop = (): void => undefined;
    // Said again until it is heard: the stream begins some time after the node is ready.
    const saying = setInterval(() => node.append('tsk_1', { kind: 'task.created' }), 50);
    const printed = await run(['up', '--no-color'], {
      onStop: (send) => {
        stop = () => send('SIGINT');
      },
      onPrinted: (stdout) => {
        if (!stdout.includes('tsk_1\n')) return;
        clearInterval(saying);
        setImmediate(stop);
      },
    });
    expect({ ...printed, stdout: printed.stdout.replace(/(  queued     tsk_1\n)+/, '$1') }).toEqual({
      exit: 0,
      stdout: `✓ The node runs at ${node.url}  Ctrl-C stops it.\n  queued     tsk_1\n  The node has stopped.\n`,
      stderr:
        '  Starting the node.\n  Stopping when the running tasks are over; Ctrl-C again stops at once, and agents go on in their keepers.\n',
    });
  });
});

describe('the pager', () => {
  it('gets a coloured patch on a terminal, and a pipe gets it byte for byte', async () => {
    set('tasks');
    const terminal = await run(['task', 'diff', 'last'], { terminal: true, env: { PAGER: 'more' } });
    const plain = await run(['task', 'diff', 'last']);
    const none = await run(['task', 'diff', 'last', '--no-pager'], { terminal: true });
    expect({
      terminal: terminal.stdout,
      paged: hold.bench.paged.length,
      coloured: hold.bench.paged[0]?.includes('\u001b[32m+new\u001b[39m'),
      plain: plain.stdout.startsWith('diff --git'),
      none: none.stdout.includes('+new'),
    }).toEqual({ terminal: '', paged: 1, coloured: true, plain: true, none: true });
  });

  it('and nothing that the agent wrote is obeyed by a terminal, with or without colours, while pipes and JSON stay exact', async () => {
    set('tasks');
    const hostile = 'diff --git a/x b/x\n+\u001b]0;title\u0007\u001b[2J\u009b2Jevil\u202e\u007f\b\n';
    hold.bench.node.state.patch = hostile;
    const harmless = (text: string | undefined): boolean => text !== undefined && inert(stripVTControlCharacters(text)) === text;
    await run(['task', 'diff', 'last'], { terminal: true, env: { PAGER: 'more', NO_COLOR: '1' } });
    const unpaged = await run(['task', 'diff', 'last', '--no-pager'], { terminal: true, env: { NO_COLOR: '1' } });
    const dumb = await run(['task', 'diff', 'last'], { terminal: true, env: { TERM: 'dumb' } });
    const piped = await run(['task', 'diff', 'last']);
    const json = await run(['task', 'diff', 'last', '--json'], { terminal: true });
    expect([harmless(hold.bench.paged[0]), harmless(unpaged.stdout), harmless(dumb.stdout), harmless(json.stdout)]).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(unpaged.stdout).toContain('+2Jevil');
    expect(piped.stdout).toBe(hostile);
    expect((envelopeOf(json)['result'] as { patch: string }).patch).toBe(hostile);
  });
});
