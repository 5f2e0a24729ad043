// The pinned programs, started as their adapters say, against a scripted model through the broker.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import type { ConversationBody } from '@orrery/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { grants, openBrokerPlace, REAL_KEY, type BrokerPlace, type PlaceOptions } from '../../test/broker-place.ts';
import { callsOf, failedExit, failedTurns, linesOf, ownWords, type Line } from '../../test/failed-turns.ts';
import type { Harness, InstalledProgram, ProgramEnd, TurnContext, TurnLaunch, TurnOutcome } from './harness.ts';
import { createHarnessRegistry } from './registry.ts';

const root = resolve(import.meta.dirname, '../../../..');
const programs = process.env['ORRERY_TEST_PROGRAMS'] ?? join(root, '.tools/programs');
const platform = `${process.platform}-${process.arch}`;

const installed = (harness: Harness): InstalledProgram | null => {
  const executable = harness.pin?.executable[platform];
  if (harness.pin === null || executable === undefined) return null;
  const directory = [join(programs, harness.id, harness.pin.version), join(programs, harness.id)].find((folder) =>
    existsSync(join(folder, executable)),
  );
  return directory === undefined
    ? null
    : { directory, executable: join(directory, executable), version: harness.pin.version, node: process.execPath };
};

/** Stands for the keeper's front: loopback connections go to the broker's socket, nothing is added. */
const openFront = async (socketPath: string): Promise<{ readonly url: string; close(): void }> => {
  const sockets = new Set<Socket>();
  const server = createServer((inside) => {
    const outside = connect(socketPath);
    for (const socket of [inside, outside]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => (inside.destroy(), outside.destroy(), sockets.delete(socket)));
    }
    inside.pipe(outside).pipe(inside);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => (server.close(), sockets.forEach((socket) => socket.destroy())),
  };
};

type Turn = {
  readonly events: readonly ConversationBody[];
  readonly outcome: TurnOutcome;
  readonly conversation: string | null;
  readonly accepted: boolean;
  readonly exitCode: number | null;
  readonly lines: readonly Line[];
  readonly stderr: string;
};
type TurnAsk = {
  readonly prompt: string;
  readonly conversation?: string | null;
  readonly quietMs?: number;
  readonly stopAfterMs?: number;
  readonly stoppedFor?: ProgramEnd['stoppedFor'];
};

const opened: { close(): unknown }[] = [];
const children = new Set<ChildProcess>();
afterEach(async () => {
  for (const child of children)
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGKILL');
  children.clear();
  for (const thing of opened.splice(0).toReversed()) await thing.close();
});

/** One environment: a home, a working directory, a token file and the front. */
const openStage = async (harness: Harness, program: InstalledProgram, options: PlaceOptions & { grants?: object }) => {
  const place = await openBrokerPlace(options);
  opened.push(place);
  const front = await openFront(place.broker.socketPath);
  opened.push(front);
  const folder = (name: string): string => join(place.directory, name);
  for (const name of ['home', 'work', 'tmp']) await mkdir(folder(name));
  const { run } = await place.broker.tokens.mint(grants('env_1', options.grants));
  await writeFile(folder('token'), run, { mode: 0o600 });
  const turn = (ask: TurnAsk): Promise<Turn> => {
    const context: TurnContext = {
      program,
      prompt: ask.prompt,
      conversation: ask.conversation ?? null,
      model: harness.id === 'codex' ? null : 'claude-sonnet-4-5',
      effort: null,
      workdir: folder('work'),
      home: folder('home'),
      scratchpad: folder('tmp'),
      brokerEndpoint: front.url,
      tokenFile: folder('token'),
      systemPrompt: null,
      command: null,
      asRoot: process.getuid?.() === 0,
      ...(ask.quietMs === undefined ? {} : { modelQuietMs: ask.quietMs }),
    };
    return runTurn({ harness, context, ask, place });
  };
  return { place, turn, work: folder('work') };
};

/** Writes the program's files and starts it as the launch says, with nothing of this process's environment. */
const startProgram = async (launch: TurnLaunch, { home, workdir, scratchpad }: TurnContext) => {
  for (const [path, content] of Object.entries(launch.homeFiles)) {
    await mkdir(dirname(join(home, path)), { recursive: true });
    await writeFile(join(home, path), content, { mode: 0o600 });
  }
  const own = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: home, TMPDIR: scratchpad, LANG: 'C.UTF-8', TERM: 'dumb' };
  const env = { ...own, ...launch.env };
  return spawn(launch.command, launch.args, { cwd: workdir, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
};

type TurnParts = { harness: Harness; context: TurnContext; ask: TurnAsk; place: BrokerPlace };

const runTurn = async ({ harness, context, ask, place }: TurnParts): Promise<Turn> => {
  const startedAt = Date.now();
  const launch = harness.launch(context);
  const child = await startProgram(launch, context);
  children.add(child);
  const translator = harness.translator({ offset: 0, state: {} });
  const events: ConversationBody[] = [];
  let facts = { conversation: null as string | null, accepted: false };
  const stdout: Buffer[] = [];
  let stderr = '';
  child.stderr.on('data', (bytes: Buffer) => (stderr += bytes.toString()));
  child.stdout.on('data', (bytes: Buffer) => {
    stdout.push(bytes);
    const taken = translator.push(bytes);
    events.push(...taken.events);
    facts = taken;
  });
  child.stdin.end(launch.input);
  const stop = ask.stopAfterMs === undefined ? undefined : setTimeout(() => child.kill('SIGTERM'), ask.stopAfterMs);
  const end = await new Promise<{ exitCode: number | null; signal: string | null }>((done) =>
    child.once('close', (exitCode, signal) => done({ exitCode, signal })),
  );
  clearTimeout(stop);
  await place.broker.settled('env_1');
  const last = translator.end({
    ...end,
    stderrTail: stderr,
    stoppedFor: ask.stoppedFor ?? null,
    gateway: place.broker.lastFailure('env_1', startedAt),
  });
  return {
    events: [...events, ...last.events],
    outcome: last.outcome,
    conversation: facts.conversation,
    accepted: facts.accepted,
    exitCode: end.exitCode,
    lines: linesOf(Buffer.concat(stdout).toString('utf8')),
    stderr,
  };
};

const forever = (step: object): object[] => [{ ...step, times: 'forever', on: 'any' }];
const usedBy = async (place: BrokerPlace) => {
  const rows = await place.store.read.selectFrom('model_call').selectAll().orderBy('id').execute();
  return rows.map((row) => ({
    status: row.status,
    input: row.input_tokens,
    output: row.output_tokens,
    cached: row.cached_tokens,
    priced: row.cost_usd !== null,
  }));
};

const registry = createHarnessRegistry();
for (const id of ['claude', 'codex', 'pi'] as const) {
  const harness = registry.get(id);
  const program = installed(harness);
  if (program === null)
    console.warn(
      `SKIPPED: the program of ${id} is not below ${programs} (orrery harness install ${id}, or ORRERY_TEST_PROGRAMS)`,
    );

  // Seconds on an idle machine; the bound is for a busy one.
  describe.skipIf(program === null)(`${id} through the broker`, { timeout: 180_000 }, () => {
    const stage = (options: PlaceOptions & { grants?: object }) => openStage(harness, program!, options);
    /** Anthropic counts cached input beside the rest, OpenAI inside it. */
    const input = (uncached: number, cached: number): number => (id === 'codex' ? uncached : uncached + cached);

    it('does a turn with a tool call and goes on with the conversation in the next', async () => {
      const script = [
        {
          thinking: 'A file is wanted.',
          text: 'I write it.',
          write: { path: 'hello.txt', content: 'hello\n' },
          usage: { input: 120, output: 30, cached: 10 },
        },
        { text: 'Done.', usage: { input: 150, output: 5, cached: 20 } },
        { text: 'Done again.', usage: { input: 170, output: 6, cached: 0 } },
      ];
      const { place, turn, work } = await stage({ script });
      const first = await turn({ prompt: 'Write hello.txt MARKER-first' });
      expect(first.outcome).toEqual({ kind: 'turn.ended', outcome: 'success', failure: null, message: null, resetsAt: null });
      expect(await readFile(join(work, 'hello.txt'), 'utf8')).toBe('hello\n');
      expect(first.events.map(({ kind }) => kind)).toEqual(
        expect.arrayContaining(['turn.started', 'thinking', 'text', 'tool.call', 'tool.result']),
      );
      expect(first).toMatchObject({ accepted: true, conversation: expect.any(String) });
      const second = await turn({ prompt: 'Once more MARKER-second', conversation: first.conversation });
      expect(second).toMatchObject({ outcome: { outcome: 'success' }, conversation: first.conversation });
      expect(second.events.filter((event) => event.kind === 'text').map((event) => event.text)).toEqual(['Done again.']);
      expect(await usedBy(place)).toEqual([
        { status: 200, input: input(120, 10), output: 30, cached: 10, priced: true },
        { status: 200, input: input(150, 20), output: 5, cached: 20, priced: true },
        { status: 200, input: input(170, 0), output: 6, cached: 0, priced: true },
      ]);
      expect(place.model.promptCounts()).toEqual({ 'MARKER-first': 1, 'MARKER-second': 1 });
      expect([...first.events, ...second.events].filter((event) => event.kind === 'notice')).toEqual([]);
      expect(JSON.stringify([first, second])).not.toContain(REAL_KEY);
    });

    it.each([
      ['rate_limit', forever({ error: 'rate_limit' }), { outcome: 'error', failure: 'rate_limit' }],
      ['overloaded', forever({ error: 'overloaded' }), { outcome: 'error', failure: 'overloaded' }],
      ['auth', forever({ error: 'auth' }), { outcome: 'error', failure: 'auth' }],
      [
        'usage_limit',
        forever({ error: 'usage_limit' }),
        { outcome: 'limit', failure: 'usage_limit', resetsAt: expect.stringMatching(/^20/) },
      ],
      ['credit', forever({ error: 'credit' }), { outcome: 'error', failure: 'billing' }],
      ['too_long', forever({ error: 'too_long' }), { outcome: 'error', failure: 'context' }],
      ['a cut', forever({ text: 'half of this is lost', cut: 0.5 }), { outcome: 'error', failure: 'network' }],
      ['a clean cut', forever({ text: 'half of this is lost', cut: 0.5, clean: true }), { outcome: 'error', failure: 'network' }],
      ['a dropped call', forever({ drop: true }), { outcome: 'error', failure: 'network' }],
      ['garbage', forever({ garbage: true }), { outcome: 'error', failure: 'protocol' }],
    ] as const)('%s: the outcome says which, and the program ends as written down', async (name, script, expected) => {
      const { place, turn } = await stage({ script });
      const { outcome, stderr, lines, exitCode } = await turn({ prompt: 'Say hello MARKER-first' });
      expect({ ...outcome, stderr }).toMatchObject({ kind: 'turn.ended', message: expect.any(String), ...expected });
      expect({ exitCode, prompts: place.model.promptCounts() }).toEqual({
        exitCode: failedExit[id],
        prompts: { 'MARKER-first': 1 },
      });
      if (failedTurns[name] === undefined) return;
      const [calls, end] = failedTurns[name][id];
      expect({ calls: callsOf(place.model), end: ownWords[id](lines) }).toEqual({ calls, end });
    });

    it('a model that hangs: stopped from outside it is interrupted, or out of time when the node says so', async () => {
      const script = forever({ text: 'it goes quiet in the middle of this', hang_after: 3 });
      const { turn } = await stage({ script });
      expect((await turn({ prompt: 'Say hello', stopAfterMs: 4_000 })).outcome).toMatchObject({ outcome: 'interrupted' });
      expect((await turn({ prompt: 'Say hello', stopAfterMs: 4_000, stoppedFor: 'timeout' })).outcome).toMatchObject({
        outcome: 'error',
        failure: 'timeout',
      });
    });

    it('a model that hangs: the gateway ends the call, and the outcome is a timeout', async () => {
      const { turn } = await stage({ script: forever({ delay_ms: 600_000, text: 'never' }), providerQuietMs: () => 1_000 });
      expect((await turn({ prompt: 'Say hello' })).outcome).toMatchObject({ outcome: 'error', failure: 'timeout' });
    });

    it('a budget: the call that would exceed it is refused, once, and the outcome says budget', async () => {
      const script = [
        { text: 'I look.', shell: 'true', usage: { input: 100_000, output: 1_000, cached: 0 } },
        { text: 'Never said.', times: 'forever' },
      ];
      const { place, turn } = await stage({ script, grants: { budgetUsd: 0.2 } });
      expect((await turn({ prompt: 'Look around' })).outcome).toMatchObject({
        outcome: 'budget',
        message: expect.stringContaining('0.2 USD'),
      });
      expect(await usedBy(place)).toHaveLength(1);
      expect(place.broker.budgetRefused('task-of-env_1')).toBe(true);
    });

    it('a conversation that does not exist is an error of the program, which makes no call', async () => {
      const { place, turn } = await stage({ script: [] });
      const { outcome, exitCode, stderr } = await turn({ prompt: 'Go on', conversation: '01a22e16-0000-7000-8000-0123456789ab' });
      expect(outcome).toMatchObject({ outcome: 'error', failure: 'program', message: expect.stringMatching(/01a22e16/) });
      expect([exitCode, callsOf(place.model), stderr]).toEqual([
        1,
        0,
        expect.stringMatching(/No conversation found|no rollout found|No session found/),
      ]);
    });

    it('a prompt that begins like a command, an option, a file or an object is a prompt', async () => {
      const { place, turn } = await stage({ script: [{ text: 'Fine.', times: 'forever' }] });
      const beginnings = ['/clear', ' /help', '/skill:poem', '- a list', '--version', '@file', '{"a":1}'];
      for (const [at, beginning] of beginnings.entries()) {
        const prompt = `${beginning} MARKER-${at}`;
        expect(await turn({ prompt })).toMatchObject({ outcome: { outcome: 'success' }, exitCode: 0 });
        expect(place.model.log().some((call) => call.call?.last.includes(prompt.trim()))).toBe(true);
      }
      expect(place.model.promptCounts()).toEqual(Object.fromEntries(beginnings.map((_, at) => [`MARKER-${at}`, 1])));
    });
  });
}
