// What the pinned agents of the protocol say of going on with one conversation twice. None of them can be used for it today: a
// version that can makes this fail.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { InstalledProgram, SessionContext } from '../harness.ts';
import { createHarnessRegistry } from '../registry.ts';

const root = resolve(import.meta.dirname, '../../../../..');
const programs = process.env['ORRERY_TEST_PROGRAMS'] ?? join(root, '.tools/programs');
const registry = createHarnessRegistry();

const installed = (id: string): InstalledProgram | null => {
  const { pin } = registry.get(id);
  const executable = pin?.executable[`${process.platform}-${process.arch}`];
  const directory = join(programs, id);
  if (pin === null || executable === undefined || !existsSync(join(directory, executable))) return null;
  return { directory, executable: join(directory, executable), version: pin.version, node: process.execPath };
};

let place: string;
let closing: (() => void)[] = [];
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'orrery-acp-fork-'));
});
afterEach(async () => {
  for (const close of closing) close();
  closing = [];
  await rm(place, { recursive: true, force: true });
});

const answered = z.object({ id: z.number(), result: z.looseObject({}) });

/** Starts an agent as its adapter says. No model is called. */
const start = async (id: string, program: InstalledProgram) => {
  const [home, workdir, tokenFile] = [join(place, 'home'), join(place, 'first'), join(place, 'token')];
  for (const folder of [home, workdir, join(place, 'second')]) await mkdir(folder);
  await writeFile(tokenFile, 'no-token');
  const context: SessionContext = {
    ...{ program, home, workdir, tokenFile, scratchpad: place, brokerEndpoint: 'http://127.0.0.1:9', asRoot: false },
    ...{ conversation: null, branch: null, model: null, effort: null, systemPrompt: null, mode: 'all' },
  };
  const launch = registry.get(id).session!.launch(context);
  for (const [path, content] of Object.entries(launch.homeFiles)) {
    await mkdir(dirname(join(home, path)), { recursive: true });
    await writeFile(join(home, path), content);
  }
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, ...launch.env };
  const child = spawn(launch.command, launch.args, { cwd: workdir, env, stdio: ['pipe', 'pipe', 'ignore'], detached: true });
  closing.push(() => child.pid !== undefined && child.exitCode === null && process.kill(-child.pid, 'SIGKILL'));
  const waiting = new Map<number, (result: Readonly<Record<string, unknown>>) => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { data } = answered.safeParse(JSON.parse(line));
    if (data !== undefined) waiting.get(data.id)?.(data.result);
  });
  let last = 0;
  const ask = (method: string, params: object): Promise<Readonly<Record<string, unknown>>> =>
    new Promise((done) => {
      waiting.set(++last, done);
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: last, method, params })}\n`);
    });
  const clientCapabilities = { fs: { readTextFile: false, writeTextFile: false }, terminal: false };
  const begun = await ask('initialize', { protocolVersion: 1, clientCapabilities });
  return { ask, begun };
};

const capabilities = z.object({
  agentCapabilities: z.object({ sessionCapabilities: z.looseObject({}).default({}) }),
});

describe.each(['opencode', 'gemini', 'copilot', 'qwen'])('%s', (id) => {
  const program = installed(id);

  it.skipIf(program === null)('forks no conversation into another folder: its forks begin with a record', async () => {
    const { ask, begun } = await start(id, program!);
    const { sessionCapabilities } = capabilities.parse(begun).agentCapabilities;
    expect(registry.get(id).session?.capabilities.fork).toBe('record');
    expect('fork' in sessionCapabilities).toBe(id === 'opencode');
    if (id !== 'opencode') return;
    // It announces forks, and takes another folder for one. The conversation stays bound to the old one all the same: what
    // it asks there is never answered.
    const { sessionId } = await ask('session/new', { cwd: join(place, 'first'), mcpServers: [] });
    const fork = await ask('session/fork', { sessionId, cwd: join(place, 'second'), mcpServers: [] });
    const list = z.object({ sessions: z.array(z.object({ sessionId: z.string(), cwd: z.string() })) });
    const { sessions } = list.parse(await ask('session/list', {}));
    expect(sessions.find((one) => one.sessionId === fork['sessionId'])?.cwd).toBe(join(place, 'first'));
  });
});
