import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openStarter } from '../../test/both-spawners.ts';
import { findKeeperBinary } from './binary.ts';
import { createKeeperClient } from './client.ts';
import type { KeeperSpec } from './types.ts';

const KEEPERS = 1000;
/** So many are started, or asked, at a time: as a busy node would. */
const AT_ONCE = 50;

const inTurns = async <T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> => {
  const results: T[] = [];
  for (let from = 0; from < count; from += AT_ONCE)
    results.push(
      ...(await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, index) => work(from + index)))),
    );
  return results;
};

const residentKilobytes = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

it(
  'a thousand keepers live at once, each small, and a client that knows nothing finds and ends them all',
  { timeout: 300_000 },
  async () => {
    const starter = openStarter();
    const root = mkdtempSync(join(tmpdir(), 'orrery-thousand-'));
    const spec: KeeperSpec = {
      command: '/bin/sleep',
      args: ['1000'],
      cwd: '/',
      env: {},
      stdio: 'piped',
      confinement: null,
      limits: { wallMs: 600_000, outputBytes: 1024, spoolWindowBytes: 1024 },
      front: null,
      required: [],
      goTimeoutMs: 120_000,
      releaseTimeoutMs: 120_000,
    };
    const dirOf = (index: number): string => join(root, `run-${index}`);
    const client = createKeeperClient({ binary: findKeeperBinary(), spawner: starter });
    try {
      const pids = await inTurns(KEEPERS, async (index) => {
        const connection = await client.launch(dirOf(index), spec);
        await connection.go();
        connection.close();
        return connection.identity.pid;
      });
      expect(new Set(pids).size).toBe(KEEPERS);
      const largest = Math.max(...pids.map(residentKilobytes));
      expect(largest).toBeLessThan(4096);
      const other = createKeeperClient({ binary: findKeeperBinary(), spawner: starter });
      const states = await inTurns(KEEPERS, async (index) => {
        const connection = await other.adopt(dirOf(index));
        const state = (await connection?.status())?.state;
        connection?.close();
        return state;
      });
      expect(states.every((state) => state === 'running')).toBe(true);
      await inTurns(KEEPERS, async (index) => {
        await other.end(dirOf(index));
        await other.remove(dirOf(index));
      });
      expect(await Promise.all(pids.slice(0, 20).map(async (_, index) => other.adopt(dirOf(index))))).toEqual(
        Array.from({ length: 20 }, () => null),
      );
    } finally {
      await inTurns(KEEPERS, (index) => client.end(dirOf(index)));
      await starter.close();
      rmSync(root, { recursive: true, force: true });
    }
  },
);
