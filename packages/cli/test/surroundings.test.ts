import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useBench } from './use-bench.ts';

const { hold, set, run } = useBench();

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
  const words = async (...typed: string[]): Promise<string[]> =>
    (await run(['__complete', '--', ...typed])).stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split('\t')[0] ?? '');

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
    }).toEqual({
      nouns: ['task'],
      verbs: ['add', 'attach', 'apply'],
      options: ['--mode'],
      choices: ['running', 'rejected'],
      ids: 5,
      projects: ['site'],
      shells: ['bash', 'zsh', 'fish'],
    });
  });

  it('is silent when the node takes too long', async () => {
    hold.bench.node.state.hangs.push('taskList');
    const began = performance.now();
    const hanging = await words('task', 'show', '');
    const tookMs = performance.now() - began;
    expect({ hanging, soon: tookMs < 2000 }).toEqual({ hanging: [], soon: true });
  });

  it('is silent without a node, and for nonsense', async () => {
    set('no-node');
    const printed = await run(['__complete', '--', 'task', 'show', '']);
    expect([printed, await run(['__complete', '--', 'nonsense', 'x'])]).toEqual([
      { exit: 0, stdout: '', stderr: '' },
      { exit: 0, stdout: '', stderr: '' },
    ]);
  });
});
