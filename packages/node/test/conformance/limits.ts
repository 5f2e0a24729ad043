import { expect, it } from 'vitest';
import { collect, processesWith, uniqueSleep, until, word } from './stage.ts';
import type { Expectations, Stage } from './stage.ts';

const MIB = 1024 * 1024;
const wide = { wallMs: 60_000, outputBytes: 64 * MIB };

/** Bounds end what goes beyond them, and the end says which one it was. */
export const limitCases = (stage: () => Stage, expectations: Expectations): void => {
  it('time: the whole tree ends at its wall-clock limit', async () => {
    const marker = uniqueSleep();
    const { end } = await stage().run({ args: ['-c', `(setsid ${marker} &); ${marker}`], limits: { ...wide, wallMs: 300 } });
    expect(end).toMatchObject({ exitCode: null, limit: 'wall', reason: 'limit:wall' });
    expect([end.tookMs >= 300, end.tookMs < 5000, processesWith(marker)]).toEqual([true, true, []]);
  });

  it('processor time', async () => {
    const { end } = await stage().run({ args: ['-c', 'while :; do :; done'], limits: { ...wide, cpuSeconds: 1 } });
    expect(end.exitCode).toBeNull();
    expect(end.limit).toBe('cpu');
  });

  it('output: all of it up to the limit is there, nothing beyond', async () => {
    const { end, stdout } = await stage().run({ command: 'yes', limits: { ...wide, outputBytes: 100_000 } });
    expect([end.limit, end.reason, stdout.length]).toEqual(['output', 'limit:output', 100_000]);
  });

  it('the size of a file', async () => {
    const { end } = await stage().run({
      args: ['-c', 'head -c 3000000 /dev/zero > big; wc -c < big'],
      limits: { ...wide, diskBytes: MIB },
    });
    expect(end.stdoutBytes === 0 || end.limit === 'file').toBe(false);
    const { stdout } = await stage().run({ args: ['-c', 'wc -c < big'] });
    expect(Number(stdout.toString())).toBeLessThanOrEqual(MIB);
  });

  it.runIf(expectations.enforces.memory)('memory', async () => {
    const script =
      'const all = []; for (let i = 0; i < 64; i++) all.push(Buffer.alloc(16 * 1024 * 1024, i)); console.log(all.length)';
    const { end, stdout } = await stage().run({
      command: stage().venue.node.path,
      args: ['-e', script],
      limits: { ...wide, memoryBytes: 256 * MIB },
    });
    expect([stdout.toString(), end.exitCode === 0]).toEqual(['', false]);
    expect(end.limit).toBe('memory');
  });

  it.runIf(expectations.enforces.processes)('processes: the next one is refused, and the machine still has room', async () => {
    const script = 'i=0; while [ $i -lt 60 ]; do sleep 20 & i=$((i+1)); done; echo made all';
    const { end, stdout } = await stage().run({ args: ['-c', script], limits: { ...wide, processes: 12 } });
    expect([stdout.toString(), end.exitCode === 0]).toEqual(['', false]);
  });
};

/** What the node bears by itself, whoever its programs run as: much that nobody reads, and many at the same time. */
export const loadCases = (stage: () => Stage): void => {
  it('unread output pauses a program at its window and loses nothing', { timeout: 60_000 }, async () => {
    const handle = await stage().start({
      args: ['-c', 'head -c 100000000 /dev/zero; echo end'],
      limits: { ...wide, outputBytes: 256 * MIB },
    });
    await until('the window is full', async () => ((await stage().environment.stats()).processes ?? 0) > 0);
    expect(await handle.tryWait()).toBeNull();
    let bytes = 0;
    for await (const chunk of handle.output('stdout', 0)) {
      bytes += chunk.bytes.length;
      await handle.release('stdout', chunk.offset + chunk.bytes.length);
    }
    expect([bytes, (await handle.wait()).exitCode]).toEqual([100_000_004, 0]);
    await handle.finish();
  });

  it('20 environments at once, each with its own program, output and end', { timeout: 180_000 }, async () => {
    const one = async (n: number): Promise<string> => {
      const environment = await stage().backend.open({ ...stage().spec, id: `many-${n}-${word()}` });
      const handle = await environment.start(stage().runSpec({ args: ['-c', `echo ${n}; sleep 0.2; exit ${n}`], runId: 'r' }));
      await handle.go();
      const [stdout, end] = await Promise.all([collect(handle, 'stdout'), handle.wait()]);
      await handle.finish();
      await environment.close();
      return `${stdout.toString().trim()}:${end.exitCode}`;
    };
    const all = Array.from({ length: 20 }, (_, n) => n);
    expect(await Promise.all(all.map(one))).toEqual(all.map((n) => `${n}:${n}`));
  });
};
