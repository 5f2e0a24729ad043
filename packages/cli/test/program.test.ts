import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errorCatalogue, operations } from '@orrery/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { optionsOf, nameOf } from '../src/command-line.ts';
import { table } from '../src/commands/table.ts';
import { endOfTask, exits } from '../src/exit.ts';
import { exitsOf } from '../src/help.ts';
import { createBench, type Bench, type Printed } from './fake-world.ts';
import { scenarios } from './scenarios.ts';
import { shellWords } from './transcript.ts';

const hold: { bench: Bench } = { bench: undefined as unknown as Bench };
beforeEach(async () => {
  hold.bench = await createBench();
});
afterEach(() => hold.bench.close());

const set = (name: string): void => scenarios[name]?.(hold.bench);
const run: Bench['run'] = (argv, wish) => hold.bench.run(argv, wish);
const envelopeOf = (printed: Printed): Record<string, unknown> => JSON.parse(printed.stdout.trimEnd().split('\n').at(-1) ?? '') as Record<string, unknown>;

describe('the exit table', () => {
  it('is the contract’s', () => {
    expect(Object.fromEntries(exits.map(({ code, meaning }) => [code, meaning]))).toEqual({
      0: 'done (nothing found is done)',
      1: 'failed',
      2: 'usage: the command line is wrong',
      3: 'not found',
      4: 'connection, login or identity',
      5: 'deadline',
      6: 'a person must answer',
      7: 'outcome unknown',
      8: 'conflict, stale, busy or unsupported',
      9: 'result rejected by validation',
      10: 'refused by policy, limit or budget',
      130: 'stopped watching (Ctrl-C)',
      143: 'stopped watching (terminated)',
    });
  });

  it('has every exit code of the catalogue of errors', () => {
    const known = new Set<number>(exits.map(({ code }) => code));
    expect(Object.entries(errorCatalogue).filter(([, { exit }]) => !known.has(exit))).toEqual([]);
  });

  it('is what the help of each command and the manual print', async () => {
    for (const spec of table) {
      const { stdout } = await run([...nameOf(spec).split(' '), '--help']);
      const printed = stdout.slice(stdout.indexOf('Exit codes')).trimEnd().split('\n').slice(1).map((line) => line.trim().replace(/\s+/, ' '));
      expect(printed).toEqual(exitsOf(spec).map(({ code, meaning }) => `${code} ${meaning}`));
    }
    const { stdout: manual } = await run(['help', '--markdown']);
    for (const { code, meaning } of exits) expect(manual).toContain(`| \`${code}\` | ${meaning} |`);
  });

  it('tells how a task ended', () => {
    const ends = (['accepted', 'rejected', 'limit', 'cancelled', 'interrupted', 'queued', 'running'] as const).map((state) => endOfTask({ state, cause: null, waitingFor: null })?.exit ?? null);
    const causes = ['agent', 'auth', 'timeout', 'budget', 'backend', 'hook:init'].map((cause) => endOfTask({ state: 'failed', cause, waitingFor: null })?.exit);
    const waits = ['a person: may it?', 'room on the node'].map((waitingFor) => endOfTask({ state: 'waiting', cause: null, waitingFor })?.exit ?? null);
    expect({ ends, causes, waits }).toEqual({ ends: [0, 9, 10, 1, 1, null, null], causes: [1, 1, 5, 10, 1, 1], waits: [6, null] });
  });
});

describe('the command table', () => {
  it('has examples that are command lines of their own row', () => {
    for (const spec of table) {
      for (const { line } of spec.examples) {
        const words = shellWords(line.replace(/^source <\((.*)\)$/, '$1').split(/ [|<>] /)[0] ?? '');
        expect(words.slice(0, 1 + nameOf(spec).split(' ').length)).toEqual(['orrery', ...nameOf(spec).split(' ')]);
        const flags = words.slice(0, words.includes('--') ? words.indexOf('--') : undefined).filter((word) => word.startsWith('--'));
        expect(flags.filter((flag) => !optionsOf(spec).some(({ name }) => `--${name}` === flag))).toEqual([]);
      }
    }
  });

  it('names each command and option once, and loads each command', async () => {
    const names = table.map(nameOf);
    expect(new Set(names).size).toBe(names.length);
    for (const spec of table) {
      const options = optionsOf(spec).map(({ name }) => name);
      expect({ name: nameOf(spec), options: new Set(options).size }).toEqual({ name: nameOf(spec), options: options.length });
      expect(await spec.load()).toBeTypeOf('function');
    }
  });

  it('offers --request-id exactly where the API does a request once', () => {
    const changing = table.filter((spec) => spec.changes !== undefined && (spec.operations ?? []).length > 0);
    const claims = changing.map((spec) => {
      const writes = (spec.operations ?? []).filter((name) => operations[name].method !== 'get');
      const takes = writes.some((name) => {
        const { body } = operations[name];
        return body !== null && 'requestId' in (body as unknown as { shape: object }).shape;
      });
      return { name: nameOf(spec), changes: spec.changes, expected: takes ? 'once' : 'plain' };
    });
    expect(claims.filter(({ changes, expected }) => changes !== expected)).toEqual([]);
  });
});

describe('--json', () => {
  /** A command line for each row that works against the fake node. */
  const lines = (): string[][] =>
    table.map((spec) => {
      const given: Record<string, string> = { task: 'last', prompt: 'do it', project: 'site', harness: 'codex', backend: 'sandbox', salvage: 'slv_01kjmgw7v80000000000000000', token: 'ci', name: 'fresh', key: 'queue.parallel', shell: 'bash' };
      const args = (spec.arguments ?? []).filter(({ required, name }) => required || name === 'prompt').map(({ name }) => given[name] ?? name);
      const more: Record<string, string[]> = { 'project set': ['--name', 'site'], 'task apply': ['--mode', 'branch'], up: ['--detach'] };
      return [...nameOf(spec).split(' '), ...args, ...(more[nameOf(spec)] ?? []), '--json'];
    });

  it('prints one envelope and nothing else, for every command', async () => {
    set('tasks');
    scenarios['selftest']?.(hold.bench);
    hold.bench.nodeAnswers.set('selftest leaks', [{ line: { area: 'x', state: 'ok', message: 'nothing found', fix: null } }, { result: {} }]);
    hold.bench.nodeAnswers.set('demo', [{ result: { source: hold.bench.repository, task: { prompt: 'retry', maxRetries: 3 }, realModel: ['a line'] } }]);
    // `things` adds a project of the same source: only its other things are wanted.
    const { projects } = hold.bench.node.state;
    set('things');
    hold.bench.node.state.projects = projects.slice(0, 1);
    const down = lines().filter(([verb]) => verb === 'down');
    for (const argv of [...lines().filter(([verb]) => verb !== 'down'), ...down]) {
      const printed = await run(argv, { stdin: 'value' });
      const envelope = envelopeOf(printed);
      expect({ argv, lines: printed.stdout.trimEnd().split('\n').length, stderr: printed.stderr }).toEqual({ argv, lines: 1, stderr: '' });
      expect({ argv, version: envelope['schemaVersion'], ok: envelope['ok'], exit: printed.exit === 0 }).toEqual({ argv, version: 1, ok: printed.exit === 0, exit: envelope['ok'] });
      expect(envelope['ok'] === true ? 'result' in envelope : 'error' in envelope).toBe(true);
    }
  });

  it('prints an envelope with the exit code in it for every command without a node', async () => {
    set('no-node');
    for (const argv of lines()) {
      const printed = await run(argv[0] === 'run' || argv[0] === 'demo' ? [...argv, '--no-start'] : argv, { stdin: 'value' });
      const envelope = envelopeOf(printed) as { ok: boolean; error?: { exitCode: number; code: string; message: string; retryable: boolean } };
      expect({ argv, exit: printed.exit }).toEqual({ argv, exit: envelope.ok ? 0 : envelope.error?.exitCode });
    }
  });

  it('prints an envelope for what cannot be read, and for a mistake of our own', async () => {
    const wrong = await run(['task', 'list', '--limit', 'hunter2', '--json']);
    hold.bench.nodeAnswers.set('secret list', [{ nothing: true }]);
    const broken = table.find((spec) => nameOf(spec) === 'version');
    expect(broken).toBeDefined();
    expect({ exit: wrong.exit, ...envelopeOf(wrong) }).toEqual({
      exit: 2,
      schemaVersion: 1,
      action: 'task.list',
      ok: false,
      error: { code: 'invalid_input', message: 'The value of --limit cannot be used.', exitCode: 2, retryable: false, rule: 'A whole number that is not negative.', fix: 'orrery task list --limit 3' },
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
    return readdirSync(folder).map((name) => ({ ...(JSON.parse(readFileSync(join(folder, name), 'utf8')) as Record<string, unknown>), mode: statSync(join(folder, name)).mode & 0o777 }));
  };

  it('are kept without content, and stay "sending" when nobody knows what happened', async () => {
    await run(['task', 'add', 'a prompt with hunter2 in it', '--request-id', 'known']);
    expect(receipts()).toEqual([{ requestId: 'known', action: 'task.add', authority: 'ins_fake', intent: expect.stringMatching(/^[0-9a-f]{64}$/) as string, state: 'done', resources: ['tsk_01kjmgw7v80000000000000000'], createdAt: '2026-03-01T12:00:00.000Z', updatedAt: '2026-03-01T12:00:00.000Z', mode: 0o600 }]);
    expect(JSON.stringify(receipts())).not.toContain('hunter2');
  });

  it('are written before anything is sent', async () => {
    const before: number[] = [];
    const { state } = hold.bench.node;
    const push = state.seen.push.bind(state.seen);
    state.seen.push = (...lines) => {
      if (lines.some((line) => line.startsWith('POST /tasks'))) before.push(receipts().filter(({ state: now }) => now === 'sending').length);
      return push(...lines);
    };
    await run(['task', 'add', 'x']);
    expect(before).toEqual([1]);
  });
});

describe('Ctrl-C in run', () => {
  const hanging = ['run', 'hang on', '--no-color'];

  it('once stops watching, says that the task goes on and how to come back', async () => {
    const printed = await run(hanging, { onStop: (send, count) => count === 1 && setTimeout(send, 50, 'SIGINT') });
    const [task] = hold.bench.node.state.tasks;
    expect({ exit: printed.exit, state: task?.state, tail: printed.stderr.trimEnd().split('\n').slice(-3) }).toEqual({
      exit: 130,
      state: 'running',
      tail: ['  Stopped watching; the task goes on. Come back with:', `  orrery task log ${task?.id} --follow`, '  Ctrl-C again now cancels the task.'],
    });
  });

  it('twice cancels it after saying so', async () => {
    const printed = await run(hanging, { sleep: () => new Promise(() => undefined), onStop: (send) => setTimeout(send, 50, 'SIGINT') });
    const [task] = hold.bench.node.state.tasks;
    expect({ exit: printed.exit, state: task?.state, tail: printed.stderr.trimEnd().split('\n').at(-1) }).toEqual({ exit: 130, state: 'cancelled', tail: `  Cancelling ${task?.id} and every process of it.` });
  });

  it('is told apart from SIGTERM, and is an envelope with --json', async () => {
    const printed = await run([...hanging, '--json'], { onStop: (send) => setTimeout(send, 50, 'SIGTERM') });
    expect({ exit: printed.exit, error: envelopeOf(printed)['error'] }).toEqual({
      exit: 143,
      error: { code: 'stopped_watching', message: 'Stopped watching; the task goes on.', exitCode: 143, retryable: false, rule: 'Watching a task does not keep it alive.', fix: 'orrery task log tsk_01kjmgw7v80000000000000000 --follow', details: { task: 'tsk_01kjmgw7v80000000000000000', cancelled: false } },
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
    node.append(id, { kind: 'task.ended', verdict: 'accepted', cause: null, reason: null, filesChanged: 0, usage: { calls: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0, costUsd: 0 } });
    const printed = await watched;
    const events = printed.stdout.trimEnd().split('\n').slice(0, -1).map((line) => (JSON.parse(line) as { sequence: number }).sequence);
    expect({ exit: printed.exit, events }).toEqual({ exit: 0, events: events.map((_, index) => index + 1) });
    expect(events.length).toBe(node.state.events.length);
  });

  it('waits no longer than its timeout, and the task goes on', async () => {
    set('tasks');
    const running = hold.bench.node.state.tasks.find(({ state }) => state === 'running');
    const printed = await run(['task', 'wait', running?.id ?? '', '--timeout', '30ms', '--json']);
    expect({ exit: printed.exit, code: (envelopeOf(printed)['error'] as { code: string }).code, state: running?.state }).toEqual({ exit: 5, code: 'deadline', state: 'running' });
  });

  it('of a node shows its events in the foreground until it stops', async () => {
    const { node } = hold.bench;
    const printed = run(['up', '--no-color'], { onStop: (send) => setTimeout(send, 300, 'SIGINT') });
    setTimeout(() => node.append('tsk_1', { kind: 'task.created' }), 100);
    expect(await printed).toEqual({ exit: 0, stdout: `✓ The node runs at ${node.url}  Ctrl-C stops it.\n  queued     tsk_1\n  The node has stopped.\n`, stderr: '  Starting the node.\n  Stopping; agents that run go on in their keepers.\n' });
  });
});

describe('the pager', () => {
  it('gets a coloured patch on a terminal, and a pipe gets it byte for byte', async () => {
    set('tasks');
    const terminal = await run(['task', 'diff', 'last'], { terminal: true, env: { PAGER: 'more' } });
    const plain = await run(['task', 'diff', 'last']);
    const none = await run(['task', 'diff', 'last', '--no-pager'], { terminal: true });
    expect({ terminal: terminal.stdout, paged: hold.bench.paged.length, coloured: hold.bench.paged[0]?.includes('\u001b[32m+new\u001b[39m'), plain: plain.stdout.startsWith('diff --git'), none: none.stdout.includes('+new') }).toEqual({ terminal: '', paged: 1, coloured: true, plain: true, none: true });
  });
});

describe('the node’s program', () => {
  it('gets places as options and a secret on standard input alone', async () => {
    await run(['secret', 'set', 'anthropic'], { stdin: 'hunter2\n' });
    await run(['selftest', 'sandbox', '--backend', 'local']);
    await run(['up', '--detach', '--listen', '127.0.0.1:0']);
    const data = join(hold.bench.folder, 'data');
    expect(hold.bench.nodeCalls).toEqual([
      { args: ['secret', 'set', 'anthropic', '--data', data], input: 'hunter2' },
      { args: ['selftest', 'sandbox', '--data', data, '--backend', 'local'], input: undefined },
      { args: ['up', '--data', data, '--listen', '127.0.0.1:0', '--detach'], input: undefined },
    ]);
  });
});

describe('the description of the running node', () => {
  it('is refused when others may read it, and when it is broken', async () => {
    const { chmodSync, writeFileSync } = await import('node:fs');
    const path = join(hold.bench.folder, 'data', 'node.json');
    chmodSync(path, 0o644);
    const open = await run(['status']);
    chmodSync(path, 0o600);
    writeFileSync(path, '{"pid":1}');
    const broken = await run(['status']);
    expect([open, broken].map(({ exit, stderr }) => ({ exit, first: stderr.split('\n')[0] }))).toEqual([
      { exit: 4, first: '✗ The description of the running node may be read or written by others.' },
      { exit: 4, first: '✗ The description of the running node cannot be read.' },
    ]);
  });
});

describe('completion', () => {
  const words = async (...typed: string[]): Promise<string[]> => (await run(['__complete', '--', ...typed])).stdout.split('\n').filter((line) => line !== '').map((line) => line.split('\t')[0] ?? '');

  it('names nouns, verbs, options, choices and ids', async () => {
    set('tasks');
    expect({
      nouns: await words('ta'),
      verbs: await words('task', 'a'),
      options: await words('task', 'apply', '--m'),
      choices: await words('task', 'list', '--state', 'r'),
      ids: (await words('task', 'show', '')).length,
      projects: await words('run', '--project', 's'),
      shells: await words('completion', ''),
    }).toEqual({ nouns: ['task'], verbs: ['add', 'apply'], options: ['--mode'], choices: ['running', 'rejected'], ids: 5, projects: ['site'], shells: ['bash', 'zsh', 'fish'] });
  });

  it('is silent without a node, and for nonsense', async () => {
    set('no-node');
    const printed = await run(['__complete', '--', 'task', 'show', '']);
    expect([printed, await run(['__complete', '--', 'nonsense', 'x'])]).toEqual([{ exit: 0, stdout: '', stderr: '' }, { exit: 0, stdout: '', stderr: '' }]);
  });
});
