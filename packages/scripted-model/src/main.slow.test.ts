import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../test/http-client.ts';

const MAIN = join(import.meta.dirname, 'main.ts');
const body = { model: 'm', messages: [{ role: 'user', content: 'hi' }], tools: [{ name: 't' }] };
let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'scripted-model-main-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('scripted-model on the command line', () => {
  it('plays a script file on the port it wrote down, logs the call, and ends by SIGTERM', async () => {
    const [script, portFile, log] = ['script.json', 'port', 'calls.jsonl'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    writeFileSync(script, JSON.stringify([{ text: 'from the file' }]));
    const running = startMain(['--script', script, '--port-file', portFile, '--log', log]);
    await running.firstLine;
    const port = Number(readFileSync(portFile, 'utf8'));
    const answer = await ask({ port }, '/v1/messages', { body });
    running.child.kill('SIGTERM');
    expect({
      line: await running.firstLine,
      said: answer.body.includes('from the file'),
      logged: readFileSync(log, 'utf8').split('\n').length - 1,
      end: await running.end,
    }).toEqual({
      line: `http://127.0.0.1:${port}`,
      said: true,
      logged: 1,
      end: { code: 0, stderr: '' },
    });
  });

  it('listens on a socket instead of a port, and takes it away at the end', async () => {
    const socket = join(folder, 's.sock');
    const running = startMain(['--socket', socket]);
    expect(await running.firstLine).toBe(socket);
    expect((await ask({ port: 0, socket }, '/v1/messages', { body })).status).toBe(200);
    running.child.kill('SIGINT');
    expect([(await running.end).code, existsSync(socket)]).toEqual([0, false]);
  });

  it.each([
    [['--script', 'bad.json'], 2, 'scripted-model: script[0]: unknown field `txt`.'],
    [['--script', 'none.json'], 1, 'scripted-model: ENOENT'],
    [['--script', 'text.json'], 2, 'text.json: not JSON: '],
    [['--port', 'x'], 2, 'scripted-model: --port x: expected a number from 0 to 65535.'],
    [['--prot', '1'], 2, "scripted-model: Unknown option '--prot'"],
  ])('refuses %j', async (args, code, says) => {
    writeFileSync(join(folder, 'bad.json'), '[{"txt":1}]');
    writeFileSync(join(folder, 'text.json'), 'text');
    const ended = await startMain(args).end;
    expect(ended).toEqual({ code, stderr: expect.stringContaining(says) });
  });

  it('five replies of 10 MB go out whole and leave nothing in memory', async () => {
    const script = join(folder, 'big.json');
    writeFileSync(script, JSON.stringify([{ bytes: 10_000_000, times: 'forever' }]));
    const running = startMain(['--script', script]);
    const port = Number(new URL(await running.firstLine).port);
    for (let index = 0; index < 5; index += 1) {
      const answer = await ask({ port }, '/v1/messages', { body: { ...body, stream: true } });
      expect([answer.complete, answer.body.length > 10_000_000]).toEqual([true, true]);
    }
    const resident = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${running.child.pid}/status`, 'utf8'))?.[1]) / 1024;
    running.child.kill('SIGTERM');
    await running.end;
    expect(resident).toBeLessThan(400);
  });
});

function startMain(args: readonly string[]): {
  child: ReturnType<typeof spawn>;
  firstLine: Promise<string>;
  end: Promise<{ code: number | null; stderr: string }>;
} {
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const firstLine = new Promise<string>((resolve) =>
    child.stdout.setEncoding('utf8').once('data', (text: string) => resolve(text.split('\n')[0] ?? '')),
  );
  const end = new Promise<{ code: number | null; stderr: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, stderr })),
  );
  return { child, firstLine, end };
}
