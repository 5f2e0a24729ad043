import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeBothSpawners, openStarter } from '../../test/both-spawners.ts';
import { systemClock } from '../kernel/clock.ts';
import { findKeeperBinary } from './binary.ts';
import { createKeeperClient } from './client.ts';
import { keeperAlive } from './directory.ts';
import { systemProcesses } from './identity.ts';
import type { KeeperConnection, KeeperSpec, OutputChunk } from './types.ts';

const MIB = 1024 * 1024;
const binary = findKeeperBinary();
let root = '';
let dir = '';

const specOf = (over: Partial<KeeperSpec> = {}): KeeperSpec => ({
  command: 'cat',
  args: [],
  cwd: root,
  env: { PATH: '/usr/bin:/bin', SECRET: 'a-secret-value' },
  stdio: 'stream',
  confinement: null,
  limits: { wallMs: 60_000, outputBytes: 1024 * MIB, spoolWindowBytes: 4 * MIB },
  front: null,
  required: [],
  goTimeoutMs: 20_000,
  releaseTimeoutMs: 20_000,
  ...over,
});

const textOf = async (chunks: AsyncIterable<OutputChunk>): Promise<string> => {
  let text = '';
  for await (const { bytes } of chunks) text += Buffer.from(bytes).toString();
  return text;
};

it('a keeper goes on when the starter that started it is lost', async () => {
  const starter = openStarter();
  const place = mkdtempSync(join(tmpdir(), 'orrery-keeper-starter-'));
  const client = createKeeperClient({ binary, spawner: starter });
  const connection = await client.launch(join(place, 'run'), { ...specOf(), cwd: place });
  await connection.go();
  process.kill(starter.pid()!, 'SIGKILL');
  await starter.close();
  expect(await connection.write('a', Buffer.from('still here'))).toEqual({ state: 'written' });
  await connection.closeInput();
  expect(await connection.wait()).toMatchObject({ code: 0, stdoutBytes: 10 });
  await connection.finish();
  connection.close();
  rmSync(place, { recursive: true });
});

describeBothSpawners('a keeper', (spawner) => {
  const client = createKeeperClient({ binary, spawner });

  const running = async (over: Partial<KeeperSpec> = {}): Promise<KeeperConnection> => {
    const connection = await client.launch(dir, specOf(over));
    await connection.go();
    return connection;
  };

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'orrery-keeper-client-'));
    dir = join(root, 'run');
  });

  afterEach(async () => {
    const left = await client.adopt(dir).catch(() => null);
    await left?.kill();
    await left?.finish();
    left?.close();
    rmSync(root, { recursive: true, force: true });
  });

  describe('starting a keeper', () => {
    it('leaves nothing of the environment on disk or in a command line, and everything closed to others', async () => {
      const { identity } = await client.launch(dir, specOf());
      expect(readdirSync(dir)).not.toContain('env');
      expect(readdirSync(dir).filter((name) => (statSync(join(dir, name)).mode & 0o77) !== 0)).toEqual([]);
      expect((statSync(dir).mode & 0o777).toString(8)).toBe('700');
      expect(readFileSync(join(dir, 'spec'), 'utf8')).not.toContain('a-secret-value');
      expect(readFileSync(`/proc/${identity.pid}/cmdline`, 'latin1')).not.toContain('a-secret-value');
      expect(readFileSync(`/proc/${identity.pid}/environ`, 'latin1')).toBe('');
    });

    it('gives the keeper none of the node’s descriptors', async () => {
      const { identity } = await client.launch(dir, specOf());
      const own = readdirSync(`/proc/${identity.pid}/fd`).map((fd) => readFileSync(`/proc/${identity.pid}/fdinfo/${fd}`, 'utf8'));
      expect(own.length).toBeLessThan(24);
    });

    it('works in a directory whose path no socket address can hold', async () => {
      dir = join(root, 'x'.repeat(100), 'y'.repeat(100));
      mkdirSync(join(root, 'x'.repeat(100)));
      const connection = await running({ args: [] });
      expect(await connection.write('a', Buffer.from('far away'))).toEqual({ state: 'written' });
      await connection.closeInput();
      expect(await textOf(connection.output('stdout', 0))).toBe('far away');
    });

    it('a refusal is an error with its reason, and leaves nothing', async () => {
      const confinement = {
        files: [{ path: join(root, 'nowhere'), access: 'ro' as const }],
        readOnly: [],
        network: 'none' as const,
        processes: true,
        unixSockets: false,
      };
      await expect(client.launch(dir, specOf({ confinement }))).rejects.toMatchObject({
        code: 'not_found',
        details: { reason: `path:${join(root, 'nowhere')}` },
      });
      expect(existsSync(dir)).toBe(false);
    });

    it('a required guarantee that is not there stops the start', async () => {
      await expect(client.launch(dir, specOf({ required: ['files'] }))).rejects.toMatchObject({
        code: 'guarantee_missing',
        details: { reason: 'guarantee:files' },
      });
    });

    it('a keeper that cannot be started, or says something else, is an error and leaves nothing', async () => {
      await expect(createKeeperClient({ binary: '/no/such/keeper', spawner }).launch(dir, specOf())).rejects.toMatchObject({
        code: 'backend_unavailable',
      });
      expect(existsSync(dir)).toBe(false);
      await expect(createKeeperClient({ binary: '/bin/true', spawner }).launch(dir, specOf())).rejects.toMatchObject({
        code: 'keeper_lost',
      });
      expect(existsSync(dir)).toBe(false);
    });

    it('a directory is used once', async () => {
      const connection = await running();
      await expect(client.launch(dir, specOf())).rejects.toMatchObject({ code: 'conflict' });
      expect(await connection.status()).toMatchObject({ state: 'running' });
    });
  });

  describe('output', () => {
    it('a reader that stops reads on exactly; meanwhile the node holds little of it', { timeout: 60_000 }, async () => {
      const connection = await running({ command: 'head', args: ['-c', String(64 * MIB), '/dev/zero'], stdio: 'piped' });
      const reader = connection.output('stdout', 0);
      let bytes = 0;
      const before = process.memoryUsage().arrayBuffers;
      for await (const chunk of reader) {
        bytes += chunk.bytes.length;
        await connection.release('stdout', bytes);
        if (bytes < MIB) {
          await new Promise((resolve) => {
            setTimeout(resolve, 20);
          });
          expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * MIB);
        }
      }
      expect(bytes).toBe(64 * MIB);
    });

    it('several views read the same, each from its own offset', async () => {
      const connection = await running({ command: 'echo', args: ['0123456789'], stdio: 'piped' });
      const other = await client.adopt(dir);
      expect(
        await Promise.all(
          [connection.output('stdout', 0), connection.output('stdout', 4), other!.output('stdout', 9)].map(textOf),
        ),
      ).toEqual(['0123456789\n', '456789\n', '9\n']);
      other?.close();
    });

    it('what was released is gone, and said to be', async () => {
      const connection = await running({ command: 'head', args: ['-c', '200000', '/dev/zero'], stdio: 'piped' });
      await connection.wait();
      await connection.release('stdout', 150_000);
      await expect(textOf(connection.output('stdout', 0))).rejects.toMatchObject({ code: 'history_expired' });
      await expect(textOf(connection.output('stdout', 200_001))).rejects.toMatchObject({ code: 'invalid_input' });
      await connection.finish();
      await expect(textOf(client.readSpool(dir, 'stdout', 0))).rejects.toMatchObject({ code: 'history_expired' });
      expect((await textOf(client.readSpool(dir, 'stdout', 150_000))).length).toBe(50_000);
    });

    it('dropping the view ends its readers with an error, never with a false end', async () => {
      const connection = await running();
      const reading = textOf(connection.output('stdout', 0));
      reading.catch(() => undefined);
      await connection.write('a', Buffer.from('x'));
      connection.close();
      await expect(reading).rejects.toMatchObject({ code: 'stale' });
      expect(await keeperAlive(dir, systemProcesses)).toBe(true);
    });
  });

  describe('a keeper that is lost', () => {
    it('killed: every call that waits rejects with keeper_lost, kill is done, the journal still answers', async () => {
      const connection = await running();
      await connection.write('known', Buffer.from('line\n'));
      const waiting = [connection.wait(), textOf(connection.output('stdout', 0)), textOf(connection.output('stderr', 0))];
      const results = Promise.allSettled(waiting);
      process.kill(connection.identity.pid, 'SIGKILL');
      const codes = (await results).map((result) =>
        result.status === 'rejected' ? (result.reason as { code: string }).code : 'no error',
      );
      expect(codes).toEqual(['keeper_lost', 'keeper_lost', 'keeper_lost']);
      await expect(connection.write('late', Buffer.from('x'))).rejects.toMatchObject({ code: 'keeper_lost' });
      await connection.kill();
      await connection.terminate();
      expect([await connection.inputState('known'), await connection.inputState('late')]).toEqual([
        { state: 'written' },
        { state: 'unwritten' },
      ]);
      expect([await client.adopt(dir), (await client.remains(dir)).exit]).toEqual([null, null]);
    });

    it('ended by SIGTERM: it still says how, and wait answers that', async () => {
      const connection = await running();
      const waiting = connection.wait();
      process.kill(connection.identity.pid, 'SIGTERM');
      expect(await waiting).toMatchObject({ reason: 'keeper-terminated' });
      expect(await client.adopt(dir)).toBeNull();
    });

    it('stopped so that it answers nothing: kill ends it, and its tree with it', async () => {
      const connection = await running({ command: 'sleep', args: ['3599'], stdio: 'piped' });
      process.kill(connection.identity.pid, 'SIGSTOP');
      // A keeper that is stopped cannot be taken over, and says nothing: that is an error, not "no keeper".
      const clock = { ...systemClock, sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(Math.min(ms, 300), signal) };
      const impatient = createKeeperClient({ binary, clock, spawner });
      await expect(impatient.adopt(dir)).rejects.toMatchObject({ code: 'keeper_lost' });
      process.kill(connection.identity.pid, 'SIGCONT');
      const other = await impatient.adopt(dir);
      process.kill(connection.identity.pid, 'SIGSTOP');
      await other?.kill();
      await impatient.end(dir);
      expect(await keeperAlive(dir, systemProcesses)).toBe(false);
      await client.remove(dir);
      expect(existsSync(dir)).toBe(false);
    });

    it('stopped so that nobody can take it over: end ends it', async () => {
      const connection = await running({ command: 'sleep', args: ['3598'], stdio: 'piped' });
      process.kill(connection.identity.pid, 'SIGSTOP');
      await client.end(dir);
      expect(await keeperAlive(dir, systemProcesses)).toBe(false);
      await client.end(dir);
    });

    it('a zombie is not adopted, nor is a process that only has its number', async () => {
      const connection = await running();
      const status = JSON.parse(readFileSync(join(dir, 'status'), 'utf8')) as Record<string, unknown>;
      await systemClock.sleep(100); // start times are told in hundredths of a second
      const other = spawn('sleep', ['60'], { stdio: 'ignore' });
      writeFileSync(join(dir, 'status'), JSON.stringify({ ...status, pid: other.pid }));
      expect(await client.adopt(dir)).toBeNull();
      writeFileSync(join(dir, 'status'), JSON.stringify(status));
      other.kill();
      await connection.kill();
    });

    it('gone after its end was taken: everything is read from what it left, and removed', async () => {
      const connection = await running({ command: 'sh', args: ['-c', 'echo out; echo err >&2; exit 4'], stdio: 'piped' });
      await connection.wait();
      await expect(client.remove(dir)).rejects.toMatchObject({ code: 'conflict' });
      await connection.finish();
      expect(await client.remains(dir)).toMatchObject({
        exit: { code: 4, stdoutBytes: 4, stderrBytes: 4 },
        stdoutBytes: 4,
        stderrBytes: 4,
      });
      expect(await Promise.all([textOf(client.readSpool(dir, 'stdout', 0)), textOf(client.readSpool(dir, 'stderr', 2))])).toEqual(
        ['out\n', 'r\n'],
      );
      writeFileSync(join(dir, 'foreign'), '');
      await expect(client.remove(dir)).rejects.toMatchObject({ code: 'not_empty' });
      rmSync(join(dir, 'foreign'));
      await client.remove(dir);
      expect(existsSync(dir)).toBe(false);
    });
  });

  describe('input', () => {
    it('an id that is none, and input that is too large, are refused before anything is sent', async () => {
      const connection = await running();
      await expect(connection.write('a b', Buffer.from('x'))).rejects.toMatchObject({ code: 'invalid_input' });
      await expect(connection.write('big', Buffer.alloc(16 * MIB + 1))).rejects.toMatchObject({ code: 'input_too_large' });
    });

    it('to a program that takes none is refused', async () => {
      const connection = await running({ command: 'sleep', args: ['30'], stdio: 'piped' });
      await expect(connection.write('a', Buffer.from('x'))).rejects.toMatchObject({ code: 'unsupported' });
      await expect(connection.resize(80, 24)).rejects.toMatchObject({ code: 'unsupported' });
    });

    it('the program is lost in the middle of it: how much was written is known', async () => {
      const connection = await running({ command: 'sh', args: ['-c', 'head -c 100000 > /dev/null; kill -9 $$'] });
      const state = await connection.write('big', Buffer.alloc(4 * MIB));
      expect(state).toMatchObject({ state: 'partial' });
      await connection.wait();
      await connection.finish();
      expect(await client.inputState(dir, 'big')).toEqual(state);
    });
  });

  it('the machine is probed for all six guarantees', async () => {
    expect((await client.probe()).map(({ guarantee }) => guarantee)).toEqual([
      'files',
      'network',
      'hosts',
      'processes',
      'signals',
      'limits',
    ]);
  });
});
