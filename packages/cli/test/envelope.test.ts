import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nameOf } from '../src/command-line.ts';
import { table } from '../src/commands/table.ts';
import { scenarios } from './scenarios.ts';
import { envelopeOf, useBench } from './use-bench.ts';

const { hold, set, run } = useBench();

describe('--json', () => {
  /** A command line for each row that works against the fake node. */
  const lines = (): string[][] =>
    table.map((spec) => {
      const given: Record<string, string> = {
        task: 'last',
        prompt: 'do it',
        project: 'site',
        harness: 'codex',
        backend: 'sandbox',
        salvage: 'slv_01kjmgw7v80000000000000000',
        token: 'ci',
        name: 'fresh',
        key: 'queue.parallel',
        shell: 'bash',
      };
      const args = (spec.arguments ?? [])
        .filter(({ required, name }) => required || name === 'prompt')
        .map(({ name }) => given[name] ?? name);
      const more: Record<string, string[]> = {
        'project set': ['--name', 'site'],
        'task apply': ['--mode', 'branch'],
        up: ['--detach'],
      };
      return [...nameOf(spec).split(' '), ...args, ...(more[nameOf(spec)] ?? []), '--json'];
    });

  it('prints one envelope and nothing else, for every command', async () => {
    set('tasks');
    scenarios['selftest']?.(hold.bench);
    hold.bench.nodeAnswers.set('selftest leaks', [
      { line: { area: 'x', state: 'ok', message: 'nothing found', fix: null } },
      { result: {} },
    ]);
    hold.bench.nodeAnswers.set('demo', [
      { result: { source: hold.bench.repository, task: { prompt: 'retry', maxRetries: 3 }, realModel: ['a line'] } },
    ]);
    // `things` adds a project of the same source: only its other things are wanted.
    const { projects } = hold.bench.node.state;
    set('things');
    hold.bench.node.state.projects = projects.slice(0, 1);
    const down = lines().filter(([verb]) => verb === 'down');
    for (const argv of [...lines().filter(([verb]) => verb !== 'down'), ...down]) {
      const printed = await run(argv, { stdin: 'value' });
      const envelope = envelopeOf(printed);
      expect({ argv, lines: printed.stdout.trimEnd().split('\n').length, stderr: printed.stderr }).toEqual({
        argv,
        lines: 1,
        stderr: '',
      });
      expect({ argv, version: envelope['schemaVersion'], ok: envelope['ok'], exit: printed.exit === 0 }).toEqual({
        argv,
        version: 1,
        ok: printed.exit === 0,
        exit: envelope['ok'],
      });
      expect(envelope['ok'] === true ? 'result' in envelope : 'error' in envelope).toBe(true);
    }
  });

  it('prints an envelope with the exit code in it for every command without a node', async () => {
    set('no-node');
    for (const argv of lines()) {
      const printed = await run(argv[0] === 'run' || argv[0] === 'demo' ? [...argv, '--no-start'] : argv, { stdin: 'value' });
      const envelope = envelopeOf(printed) as {
        ok: boolean;
        error?: { exitCode: number; code: string; message: string; retryable: boolean };
      };
      expect({ argv, exit: printed.exit }).toEqual({ argv, exit: envelope.ok ? 0 : envelope.error?.exitCode });
    }
  });

  it('prints an envelope for what cannot be read, and for a mistake of our own', async () => {
    const wrong = await run(['task', 'list', '--limit', 'hunter2', '--json']);
    const mistake = await run(['secret', 'set', 'x', '--json'], { stdinFails: true });
    expect({ exit: mistake.exit, ...envelopeOf(mistake) }).toEqual({
      exit: 1,
      schemaVersion: 1,
      action: 'secret.set',
      ok: false,
      error: {
        code: 'internal',
        message: 'The command line itself failed; that is a mistake in Orrery.',
        exitCode: 1,
        retryable: false,
        rule: 'What the node does goes on.',
        fix: 'Repeat it with ORRERY_DEBUG=1 in the environment and report what it prints.',
      },
    });
    expect({ exit: wrong.exit, ...envelopeOf(wrong) }).toEqual({
      exit: 2,
      schemaVersion: 1,
      action: 'task.list',
      ok: false,
      error: {
        code: 'invalid_input',
        message: 'The value of --limit cannot be used.',
        exitCode: 2,
        retryable: false,
        rule: 'A whole number that is not negative.',
        fix: 'orrery task list --limit 3',
      },
    });
    expect(wrong.stdout).not.toContain('hunter2');
  });

  it('puts warnings into the envelope', async () => {
    await run(['task', 'add', 'x', '--request-id', 'one', '--json']);
    const again = envelopeOf(await run(['task', 'add', 'x', '--request-id', 'one', '--json']));
    expect(again['warnings']).toEqual(['The same request was sent before: this is its task.']);
  });
});

describe('receipts', () => {
  const receipts = (): Record<string, unknown>[] => {
    const folder = join(hold.bench.folder, 'config', 'orrery', 'receipts');
    if (!existsSync(folder)) return [];
    return readdirSync(folder).map((name) => ({
      ...(JSON.parse(readFileSync(join(folder, name), 'utf8')) as Record<string, unknown>),
      mode: statSync(join(folder, name)).mode & 0o777,
    }));
  };

  it('are kept without content', async () => {
    await run(['task', 'add', 'a prompt with hunter2 in it', '--request-id', 'known']);
    expect(receipts()).toEqual([
      {
        requestId: 'known',
        action: 'task.add',
        authority: 'ins_fake',
        intent: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
        state: 'done',
        resources: ['tsk_01kjmgw7v80000000000000000'],
        createdAt: '2026-03-01T12:00:00.000Z',
        updatedAt: '2026-03-01T12:00:00.000Z',
        mode: 0o600,
      },
    ]);
    expect(JSON.stringify(receipts())).not.toContain('hunter2');
  });

  it('stay "sending" when the answer is lost, and the same request id finds out', async () => {
    hold.bench.node.state.cuts.push('taskAdd');
    const lost = await run(['task', 'add', 'x', '--json']);
    const error = envelopeOf(lost)['error'] as { code: string; fix: string };
    const [{ requestId, state } = {}] = receipts();
    hold.bench.node.state.cuts.pop();
    const again = envelopeOf(await run(['task', 'add', 'x', '--json', '--request-id', String(requestId)]));
    expect({
      exit: lost.exit,
      code: error.code,
      fix: error.fix,
      state,
      tasks: hold.bench.node.state.tasks.length,
      warnings: again['warnings'],
      settled: receipts().map((receipt) => receipt['state']),
    }).toEqual({
      exit: 7,
      code: 'outcome_unknown',
      fix: `Repeat the same command with: --request-id ${String(requestId)}`,
      state: 'sending',
      tasks: 1,
      warnings: ['The same request was sent before: this is its task.'],
      settled: ['done'],
    });
  });

  it('are written before anything is sent', async () => {
    const before: number[] = [];
    const { state } = hold.bench.node;
    const push = state.seen.push.bind(state.seen);
    state.seen.push = (...lines) => {
      if (lines.some((line) => line.startsWith('POST /tasks')))
        before.push(receipts().filter(({ state: now }) => now === 'sending').length);
      return push(...lines);
    };
    await run(['task', 'add', 'x']);
    expect(before).toEqual([1]);
  });
});
