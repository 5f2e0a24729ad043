/** The pinned agent programs against the scripted model: what docs/decisions/010 says about them, kept true. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { isInstalled, PROGRAM_NAMES, PROGRAMS, PROGRAMS_ROOT } from './agent-programs.ts';
import { closingServer } from './closing-server.ts';
import { makePlace, runTurn } from './run-turn.ts';
import { SCENARIOS } from './scenarios.ts';

const TOKEN = 'made-up-run-token';
const LIMIT_MS = 120_000;

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

    it('prints a reply of 10 MB as one line and ends well', async () => {
      await using server = await closingServer({ script: [{ bytes: 10_000_000 }] });
      using place = disposable(server.url);
      const ended = await runTurn(program, place, { prompt: 'MARKER-long', limitMs: LIMIT_MS });
      const longest = ended.stdout.split('\n').reduce((most, line) => Math.max(most, line.length), 0);
      expect([ended.exitCode, longest > 10_000_000 && longest < 10_100_000]).toEqual([0, true]);
    });

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
