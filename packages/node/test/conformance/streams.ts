import { createHash } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { collect, until, word } from './stage.ts';
import type { Stage } from './stage.ts';

const sha = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const MIB = 1024 * 1024;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/**
 * Bytes that this process still refers to: what it took from the system says how seldom it collects, too. Buffers that one
 * collection finds dead are given back beside it, and counted until the next.
 */
const liveBytes = async (): Promise<number> => {
  for (let round = 0; round < 2; round++) {
    collectGarbage();
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
  const { arrayBuffers, heapUsed } = process.memoryUsage();
  return arrayBuffers + heapUsed;
};

/** Output and input, byte for byte. */
export const streamCases = (stage: () => Stage): void => {
  const node = (script: string) => ({ command: stage().venue.node.path, args: ['-e', script] });

  it('one byte at a time arrives as it was written', async () => {
    const { stdout } = await stage().run({ args: ['-c', 'for c in a b c d e f g h; do printf $c; done'] });
    expect(stdout.toString()).toBe('abcdefgh');
  });

  it('a line of 10 MB is whole', async () => {
    const { stdout } = await stage().run(node(`process.stdout.write('x'.repeat(10e6) + '\\n')`));
    expect([stdout.length, stdout.at(-1), stdout.subarray(0, -1).every((byte) => byte === 0x78)]).toEqual([10_000_001, 10, true]);
  });

  it('split UTF-8 and NUL bytes are bytes like others', async () => {
    const { stdout } = await stage().run({ args: ['-c', String.raw`printf '\303'; sleep 0.05; printf '\274\000\377'`] });
    expect(stdout.toString('hex')).toBe('c3bc00ff');
  });

  it(
    '100 MB arrive exactly to a slow reader, and the program waits rather than the node filling up',
    { timeout: 120_000 },
    async () => {
      const handle = await stage().start(
        node(
          `const b = Buffer.alloc(1 << 20); let i = 0; const next = () => { while (i < 100) { b.fill(i++); if (!process.stdout.write(Buffer.from(b))) { process.stdout.once('drain', next); return; } } }; next();`,
        ),
      );
      const hash = createHash('sha256');
      let bytes = 0;
      let peak = 0;
      let look = 10 * MIB;
      const before = await liveBytes();
      for await (const chunk of handle.output('stdout', 0)) {
        hash.update(chunk.bytes);
        bytes += chunk.bytes.length;
        if (bytes >= look) {
          look += 10 * MIB;
          peak = Math.max(peak, (await liveBytes()) - before);
        }
        if (bytes % MIB < 65_536) {
          await handle.release('stdout', bytes);
          await new Promise((resolve) => {
            setTimeout(resolve, 2);
          });
        }
      }
      const expected = createHash('sha256');
      for (let i = 0; i < 100; i++) expected.update(Buffer.alloc(MIB, i));
      expect([bytes, hash.digest('hex')]).toEqual([100 * MIB, expected.digest('hex')]);
      expect(peak).toBeLessThan(40 * MIB);
      await handle.finish();
    },
  );

  it('stdin of a piped program is empty', async () => {
    expect((await stage().run({ args: ['-c', 'cat; echo end'] })).stdout.toString()).toBe('end\n');
  });

  it('stdin held open takes input piece by piece, once for each id, and ends when it is closed', async () => {
    const handle = await stage().start({
      args: ['-c', 'while read line; do echo "got $line"; done; echo closed'],
      stdio: 'stream',
    });
    expect(await handle.write('one', Buffer.from('first\n'))).toEqual({ state: 'written' });
    expect(await handle.write('one', Buffer.from('first\n'))).toEqual({ state: 'written' });
    expect(await handle.write('two', Buffer.from('second\n'))).toEqual({ state: 'written' });
    expect([await handle.inputState('two'), await handle.inputState('three')]).toEqual([
      { state: 'written' },
      { state: 'unwritten' },
    ]);
    await handle.closeInput();
    expect((await collect(handle, 'stdout')).toString()).toBe('got first\ngot second\nclosed\n');
    expect((await handle.wait()).exitCode).toBe(0);
    await handle.finish();
  });

  it('input of 5 MB comes out as it went in', async () => {
    const bytes = Buffer.alloc(5 * MIB, word());
    const handle = await stage().start({ command: 'cat', stdio: 'stream' });
    const output = collect(handle, 'stdout');
    expect(await handle.write('big', bytes)).toEqual({ state: 'written' });
    await handle.closeInput();
    expect(sha(await output)).toBe(sha(bytes));
    await handle.wait();
    await handle.finish();
  });
};

/** Pipes and terminals as a program opens them: whether it may, depends on who it is. */
export const deviceCases = (stage: () => Stage): void => {
  it('stdout and stderr are apart, each in order, and /dev/stderr can be opened', async () => {
    const { stdout, stderr } = await stage().run({
      args: ['-c', 'for i in 1 2 3; do echo out$i; echo err$i >&2; done; echo by-path > /dev/stderr'],
    });
    expect([stdout.toString(), stderr.toString()]).toEqual(['out1\nout2\nout3\n', 'err1\nerr2\nerr3\nby-path\n']);
  });

  it('a terminal is one: its size is told, a change of size is told by SIGWINCH', async () => {
    const script = `const say = (w) => console.log([w, process.stdout.columns, process.stdout.rows].join(' ')); let told = false; process.on('SIGWINCH', () => { told = true; }); process.stdout.on('resize', () => { say('now ' + told); process.exit(0); }); say('size ' + process.stdin.isTTY); setInterval(() => {}, 1000);`;
    const handle = await stage().start({
      command: stage().venue.node.path,
      args: ['-e', script],
      stdio: 'pty',
      terminal: { columns: 100, rows: 30 },
    });
    let seen = '';
    const reading = (async () => {
      for await (const { bytes } of handle.output('stdout', 0)) seen += Buffer.from(bytes).toString();
    })();
    await until('the first size', () => seen.includes('size true 100 30'));
    await handle.resize(120, 40);
    await reading;
    expect(seen).toBe('size true 100 30\r\nnow true 120 40\r\n');
    expect((await handle.wait()).exitCode).toBe(0);
    await handle.finish();
  });
};
