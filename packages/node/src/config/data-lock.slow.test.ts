import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { takeDataLock } from './data-lock.ts';

const program = (directory: string): string => `
  const { takeDataLock } = await import(${JSON.stringify(new URL('./data-lock.ts', import.meta.url).href)});
  try {
    const lock = await takeDataLock({ lock: ${JSON.stringify(join(directory, 'node.lock'))}, data: ${JSON.stringify(directory)}, pid: process.pid });
    process.stdout.write('held\\n');
    setInterval(() => lock, 1000);
  } catch (thrown) {
    process.stdout.write(thrown.code + '\\n');
  }
`;

describe('the lock of a data directory', () => {
  let directory = '';
  const children: ChildProcess[] = [];
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'orrery-lock-'));
  });
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    await rm(directory, { recursive: true });
  });
  const start = async () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', program(directory)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    const [said] = (await once(child.stdout, 'data')) as [Buffer];
    return { child, said: said.toString().trim() };
  };

  it('is held by one of several that start at once', async () => {
    const said = (await Promise.all([start(), start(), start(), start()])).map((one) => one.said);
    expect(said.toSorted()).toEqual(['held', 'node_already_running', 'node_already_running', 'node_already_running']);
  });

  it('ends with its process, however that dies, and names a living one', async () => {
    const first = await start();
    await expect(takeDataLock({ lock: join(directory, 'node.lock'), data: directory, pid: 1 })).rejects.toMatchObject({
      details: { pid: first.child.pid },
    });
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    const second = await start();
    expect([first.said, second.said]).toEqual(['held', 'held']);
  });
});
