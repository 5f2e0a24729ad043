import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startFakeNode, type FakeNode } from '../test/fake-node.ts';
import { TOKEN } from '../test/fake-state.ts';

const main = join(import.meta.dirname, 'main.ts');
const hold: { node: FakeNode; folder: string } = { node: undefined as unknown as FakeNode, folder: '' };

beforeEach(async () => {
  hold.node = await startFakeNode();
  hold.folder = mkdtempSync(join(tmpdir(), 'orrery-main-'));
  writeFileSync(join(hold.folder, 'token'), TOKEN, { mode: 0o600 });
});
afterEach(async () => {
  await hold.node.close();
  rmSync(hold.folder, { recursive: true, force: true });
});

type Printed = { stdout: string; stderr: string };
type Ended = { readonly stdout: string; readonly stderr: string; readonly code: number | null };

const start = (
  args: readonly string[],
  input = '',
): { readonly child: ReturnType<typeof spawn>; readonly printed: Printed; readonly ended: Promise<Ended> } => {
  const env = {
    PATH: process.env['PATH'],
    HOME: hold.folder,
    ORRERY_URL: hold.node.url,
    ORRERY_TOKEN_FILE: join(hold.folder, 'token'),
  };
  const child = spawn(process.execPath, [main, ...args], { cwd: hold.folder, env });
  const printed: Printed = { stdout: '', stderr: '' };
  child.stdout.on('data', (piece) => (printed.stdout += String(piece)));
  child.stderr.on('data', (piece) => (printed.stderr += String(piece)));
  child.stdin.end(input);
  return { child, printed, ended: new Promise((resolve) => child.on('close', (code) => resolve({ ...printed, code }))) };
};

const until = async (done: () => boolean): Promise<void> => {
  while (!done()) await new Promise((resolve) => setTimeout(resolve, 10));
};

describe('orrery as a program', () => {
  it('prints its version, and help without a node', async () => {
    const [version, help] = await Promise.all([start(['--version']).ended, start([]).ended]);
    expect({ version, help: help.code, first: help.stdout.split('\n')[0] }).toEqual({
      version: { stdout: '0.1.0\n', stderr: '', code: 0 },
      help: 0,
      first: 'Orrery runs coding agents in sandboxes and checks what they did.',
    });
  });

  it('loads neither schemas nor fetch to list tasks', async () => {
    const source = `import { registerHooks } from 'node:module';
      const loaded = [];
      registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
      process.on('exit', () => process.stderr.write(JSON.stringify({ zod: loaded.some((url) => /node_modules\\/zod\\//.test(url)), undici: process.moduleLoadList.some((name) => /undici\\/undici/.test(name)), known: loaded.some((url) => url.endsWith('/program.ts')) })));`;
    const hook = join(hold.folder, 'hook.mjs');
    writeFileSync(hook, source);
    const env = {
      PATH: process.env['PATH'],
      HOME: hold.folder,
      ORRERY_URL: hold.node.url,
      ORRERY_TOKEN_FILE: join(hold.folder, 'token'),
    };
    const child = spawn(process.execPath, ['--import', hook, main, 'task', 'list'], { cwd: hold.folder, env });
    let stderr = '';
    child.stderr.on('data', (piece) => (stderr += String(piece)));
    await new Promise((resolve) => child.on('close', resolve));
    expect(JSON.parse(stderr)).toEqual({ zod: false, undici: false, known: true });
  });

  it('reads a prompt from standard input, watches, and ends with the verdict', async () => {
    const ended = await start(['run', '-'], 'reject this').ended;
    expect({
      code: ended.code,
      prompt: hold.node.state.tasks[0]?.prompt,
      verdict: ended.stdout.split('\n')[0]?.slice(0, 10),
    }).toEqual({ code: 9, prompt: 'reject this', verdict: '✗ rejected' });
  });

  it('stops watching at the first SIGINT with 130 and cancels at the second', async () => {
    const once = start(['run', 'hang on']);
    await until(() => once.printed.stderr.includes('prepare'));
    once.child.kill('SIGINT');
    const first = await once.ended;
    const twice = start(['run', 'hang on again']);
    await until(() => twice.printed.stderr.includes('prepare'));
    twice.child.kill('SIGINT');
    await until(() => twice.printed.stderr.includes('Ctrl-C again'));
    twice.child.kill('SIGINT');
    const second = await twice.ended;
    expect({ first: first.code, second: second.code, states: hold.node.state.tasks.map(({ state }) => state) }).toEqual({
      first: 130,
      second: 130,
      states: ['running', 'cancelled'],
    });
  });

  it('ends quietly when its reader goes away', async () => {
    const { child, ended } = start(['help', '--markdown']);
    child.stdout?.destroy();
    expect((await ended).stderr).toBe('');
  });
});
