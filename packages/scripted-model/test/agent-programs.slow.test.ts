/** The pinned agent programs against the scripted model: what docs/decisions/010 says about them, kept true. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { isInstalled, PROGRAM_NAMES, PROGRAMS, PROGRAMS_ROOT } from './agent-programs.ts';
import type { AgentProgram, Line, ProgramName } from './agent-programs.ts';
import { closingServer } from './closing-server.ts';
import { makePlace, runTurn } from './run-turn.ts';
import type { Ended } from './run-turn.ts';
import { SCENARIOS } from './scenarios.ts';

const TOKEN = 'made-up-run-token';
const LIMIT_MS = 120_000;

/** What a program's own words say about the end of a turn, each in its dialect. */
const END: Readonly<Record<ProgramName, (lines: readonly Line[]) => object | undefined>> = {
  claude(lines) {
    const result = lines.findLast((line) => line['type'] === 'result');
    const said = lines.findLast((line) => line['type'] === 'assistant')?.['error'];
    return (
      result && {
        isError: result['is_error'],
        status: result['api_error_status'] ?? null,
        reason: result['terminal_reason'],
        said: said ?? null,
      }
    );
  },
  codex(lines) {
    const last = lines.at(-1);
    return (
      last && { type: last['type'], message: (last['error'] as { message?: string } | undefined)?.message?.slice(0, 60) ?? null }
    );
  },
  pi(lines) {
    const ended = lines.findLast((line) => line['type'] === 'message_end')?.['message'] as Line | undefined;
    return (
      ended && {
        settled: lines.at(-1)?.['type'] === 'agent_settled',
        stopReason: ended['stopReason'],
        message: ((ended['errorMessage'] ?? '') as string).slice(0, 60),
      }
    );
  },
};

const claudeFails = (status: number | null, said: string, reason = 'api_error'): object => ({
  isError: true,
  status,
  reason,
  said,
});
const codexFails = (message: unknown): object => ({ type: 'turn.failed', message });
const piFails = (message: unknown): object => ({ settled: true, stopReason: 'error', message });
const starts = (text: string): unknown => expect.stringMatching(new RegExp(`^${text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}`));

/** How each failure ends, and how many model calls the program made for it. */
const FAILURES: Readonly<Record<string, Readonly<Record<ProgramName, readonly [calls: number, end: object]>>>> = {
  'rate-limit': {
    claude: [2, claudeFails(429, 'rate_limit')],
    codex: [2, codexFails('exceeded retry limit, last status: 429 Too Many Requests')],
    pi: [2, piFails(starts('429 {"type":"error","error":{"type":"rate_limit_error"'))],
  },
  'usage-limit': {
    claude: [2, claudeFails(429, 'rate_limit')],
    codex: [1, codexFails(starts('You’ve hit your usage limit.'))],
    pi: [2, piFails(starts('429 {"type":"error"'))],
  },
  overloaded: {
    claude: [2, claudeFails(529, 'server_error')],
    codex: [4, codexFails(starts('unexpected status 529 '))],
    pi: [2, piFails(starts('529 {"type":"error","error":{"type":"overloaded_error"'))],
  },
  auth: {
    claude: [4, claudeFails(401, 'authentication_failed')],
    codex: [4, codexFails(starts('unexpected status 401 Unauthorized'))],
    pi: [1, piFails(starts('401 {"type":"error","error":{"type":"authentication_error"'))],
  },
  credit: {
    claude: [1, claudeFails(400, 'billing_error')],
    codex: [1, codexFails(starts('{"error":{"message":"Your credit balance is too low'))],
    pi: [1, piFails(starts('400 {"type":"error"'))],
  },
  'too-long': {
    claude: [1, claudeFails(400, 'invalid_request', 'prompt_too_long')],
    codex: [1, codexFails(starts("Codex ran out of room in the model's context window."))],
    pi: [1, piFails(starts('400 {"type":"error"'))],
  },
  cut: {
    claude: [3, claudeFails(null, 'server_error')],
    codex: [2, codexFails(starts('stream disconnected before completion: '))],
    pi: [2, piFails(starts('terminated: other side closed'))],
  },
  garbage: {
    claude: [2, claudeFails(null, 'unknown')],
    codex: [2, codexFails(starts('stream disconnected before completion: '))],
    pi: [2, piFails(starts('Anthropic stream ended without a stop reason'))],
  },
};
/** pi ends with 0 after a failed turn. */
const FAILED_EXIT: Readonly<Record<ProgramName, number>> = { claude: 1, codex: 1, pi: 0 };

for (const name of PROGRAM_NAMES) {
  const program = PROGRAMS[name];
  const here = isInstalled(program);
  if (!here)
    process.stderr.write(`SKIPPED: ${name} is not installed under ${PROGRAMS_ROOT}; nothing here says that it still works\n`);

  describe.skipIf(!here)(`${name}, one process per turn`, { timeout: LIMIT_MS }, () => {
    it('writes, edits and runs what the model asks, and goes on in a second process with the same conversation', async () => {
      const scenario = SCENARIOS['turn-with-tools'];
      await using server = await closingServer({ script: scenario?.script });
      using place = disposable(server.url);
      writeFileSync(join(place.work, 'old.txt'), 'one\ntwo\nthree\n');
      const first = await runTurn(program, place, { prompt: scenario?.prompts[0] ?? '' });
      const id = program.conversationId(first.lines);
      const second = await runTurn(program, place, { prompt: scenario?.prompts[1] ?? '', resume: id });
      const calls = server.log().filter((call) => call.wire !== undefined);
      expect({
        exits: [first.exitCode, second.exitCode],
        sameConversation: id !== undefined && program.conversationId(second.lines) === id,
        files: ['hello.txt', 'old.txt'].map((file) => readFileSync(join(place.work, file), 'utf8')),
        prompts: server.promptCounts(),
        wires: [...new Set(calls.map((call) => call.wire))],
        paths: [...new Set(calls.map((call) => call.path.split('/').slice(0, 3).join('/')))],
        tokens: [
          ...new Set(server.log().map((call) => call.headers.authorization ?? `Bearer ${String(call.headers['x-api-key'])}`)),
        ],
      }).toEqual({
        exits: [0, 0],
        sameConversation: true,
        files: ['hello\n', 'one\nTWO\nthree\n'],
        prompts: { 'MARKER-first': 1, 'MARKER-second': 1 },
        wires: [program.wire],
        paths: [program.wire === 'responses' ? '/models/openai' : '/models/anthropic'],
        tokens: [`Bearer ${TOKEN}`],
      });
    });

    it.each(Object.keys(FAILURES))('a model that answers with %s ends the turn as written down', async (scenario) => {
      const [calls, end] = FAILURES[scenario]?.[name] ?? [0, {}];
      const { ended, modelCalls, prompts } = await playScenario(program, scenario);
      expect({ exit: ended.exitCode, calls: modelCalls, end: END[name](ended.lines), prompts }).toEqual({
        exit: FAILED_EXIT[name],
        calls,
        end,
        prompts: { 'MARKER-first': 1 },
      });
    });

    it('a conversation it does not know ends it without a call', async () => {
      const { ended, modelCalls } = await playScenario(program, 'unknown-conversation');
      expect([ended.exitCode, modelCalls, ended.stderr]).toEqual([
        1,
        0,
        expect.stringMatching(/No conversation found|no rollout found|No session found/),
      ]);
    });

    it('prints a reply of 10 MB as one line and ends well', async () => {
      await using server = await closingServer({ script: [{ bytes: 10_000_000 }] });
      using place = disposable(server.url);
      const ended = await runTurn(program, place, { prompt: 'MARKER-long', limitMs: LIMIT_MS });
      const longest = ended.stdout.split('\n').reduce((most, line) => Math.max(most, line.length), 0);
      expect([ended.exitCode, longest > 10_000_000 && longest < 10_100_000]).toEqual([0, true]);
    });

    it.each(['/help MARKER-x', '@old.txt MARKER-x', '--version MARKER-x', '{"a":1} MARKER-x'])(
      'takes %j as a prompt and not as a command',
      async (prompt) => {
        await using server = await closingServer({ script: [{ text: 'ok' }] });
        using place = disposable(server.url);
        const ended = await runTurn(program, place, { prompt });
        expect([ended.exitCode, server.promptCounts(), server.log().some((call) => call.call?.last.includes(prompt))]).toEqual([
          0,
          { 'MARKER-x': 1 },
          true,
        ]);
      },
    );

    it('the token is in no argument and no variable', () => {
      using place = disposable('http://127.0.0.1:1');
      const start = program.turn(place, { prompt: 'the prompt', resume: 'some-id' });
      expect(JSON.stringify([start.argv, start.env])).not.toMatch(/made-up-run-token|the prompt/);
    });
  });
}

const installed = PROGRAM_NAMES.filter((name) => isInstalled(PROGRAMS[name]));

describe.skipIf(installed.length === 0)('one script, one server, every program at the same time', { timeout: LIMIT_MS }, () => {
  it('each conversation gets the script its prompt names, in the tools of its program', async () => {
    const steps = [
      { write: { path: 'sub/new.txt', content: 'written\n' } },
      { edit: { path: 'sub/new.txt', old: 'written', new: 'edited' }, shell: 'printf ran > ran.txt' },
      {
        write: [
          { path: 'sub/new.txt', content: 'written over\n' },
          { path: 'more.txt', content: 'more\n', fresh: true },
        ],
      },
      { text: 'Done.' },
    ];
    await using server = await closingServer({
      script: { scripts: { demo: { marker: '[demo]', perConversation: true, steps } } },
    });
    const ended = await Promise.all(
      installed.map(async (name) => {
        using place = disposable(server.url);
        const turn = await runTurn(PROGRAMS[name], place, { prompt: `[demo] for ${name} MARKER-${name}`, limitMs: LIMIT_MS });
        return [
          name,
          turn.exitCode,
          ...['sub/new.txt', 'ran.txt', 'more.txt'].map((file) => readFileSync(join(place.work, file), 'utf8')),
        ];
      }),
    );
    expect(ended).toEqual(installed.map((name) => [name, 0, 'written over\n', 'ran', 'more\n']));
    expect(server.promptCounts()).toEqual(Object.fromEntries(installed.map((name) => [`MARKER-${name}`, 1])));
  });
});

async function playScenario(program: AgentProgram, name: string): Promise<{ ended: Ended; modelCalls: number; prompts: object }> {
  const scenario = SCENARIOS[name];
  if (scenario === undefined) throw new Error(`no scenario ${name}`);
  await using server = await closingServer({ script: scenario.script });
  using place = disposable(server.url);
  const ended = await runTurn(program, place, { prompt: scenario.prompts[0] ?? '', resume: scenario.resume, limitMs: LIMIT_MS });
  return { ended, modelCalls: server.log().filter((call) => call.wire !== undefined).length, prompts: server.promptCounts() };
}

function disposable(url: string): ReturnType<typeof makePlace> & Disposable {
  const place = makePlace(url, { token: TOKEN });
  return {
    ...place,
    [Symbol.dispose]() {
      rmSync(place.root, { recursive: true, force: true, maxRetries: 5 });
      if (existsSync(place.root)) throw new Error(`${place.root} is still there`);
    },
  };
}
