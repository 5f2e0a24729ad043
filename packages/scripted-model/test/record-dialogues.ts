/**
 * Records what the installed programs print in each scenario, as fixtures for the harness adapters.
 *   node packages/scripted-model/test/record-dialogues.ts [program] [scenario]
 * One `<scenario>.jsonl` per turn (`<scenario>.2.jsonl` for the second), and `recorded.json` with exit codes and calls.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { start } from '../src/index.ts';
import { isInstalled, PROGRAM_NAMES, PROGRAMS } from './agent-programs.ts';
import type { AgentProgram } from './agent-programs.ts';
import { makePlace, runTurn } from './run-turn.ts';
import type { Ended } from './run-turn.ts';
import { createScrubber, leaksIn } from './scrub.ts';
import { SCENARIOS } from './scenarios.ts';
import type { Scenario } from './scenarios.ts';

const HARNESS_ROOT = join(import.meta.dirname, '../../node/src/harness');
const LIMIT_MS = 100_000;

const [onlyProgram, onlyScenario] = process.argv.slice(2);
for (const name of PROGRAM_NAMES) {
  if (onlyProgram !== undefined && onlyProgram !== name) continue;
  if (!isInstalled(PROGRAMS[name])) throw new Error(`${name} is not installed at ${PROGRAMS[name].file}`);
  for (const [scenarioName, scenario] of Object.entries(SCENARIOS)) {
    if (onlyScenario === undefined || onlyScenario === scenarioName) await record(PROGRAMS[name], scenarioName, scenario);
  }
}

async function record(program: AgentProgram, name: string, scenario: Scenario): Promise<void> {
  const server = await start({ script: scenario.script });
  const place = makePlace(server.url, { quietMs: scenario.quietMs });
  const scrub = createScrubber(place);
  writeFileSync(join(place.work, 'old.txt'), 'one\ntwo\nthree\n');
  try {
    const turns: object[] = [];
    let resume = scenario.resume;
    for (const [index, prompt] of scenario.prompts.entries()) {
      const before = server.calls();
      const ended = await runTurn(program, place, { prompt, resume, limitMs: LIMIT_MS });
      const file = index === 0 ? `${name}.jsonl` : `${name}.${index + 1}.jsonl`;
      save(program, file, scrub(ended.stdout));
      turns.push({
        file,
        ...outcome(ended),
        stderr: scrub(ended.stderr).slice(0, 2_000),
        calls: server
          .log()
          .slice(before)
          .map((call) => `${call.method} ${call.path}`),
      });
      resume = program.conversationId(ended.lines) ?? resume;
      process.stdout.write(
        `${program.name} ${file}: exit ${ended.exitCode} ${ended.signal ?? ''} after ${ended.elapsedMs} ms, ${server.calls() - before} calls\n`,
      );
    }
    remember(program, name, { turns, promptCounts: server.promptCounts() });
  } finally {
    await server.close();
    place.remove();
  }
}

function outcome({ exitCode, signal, elapsedMs }: Ended): object {
  return { exitCode, signal, elapsedMs };
}

function save(program: AgentProgram, file: string, content: string): void {
  const leaks = leaksIn(content);
  if (leaks.length > 0) throw new Error(`${program.name} ${file}: after scrubbing it still says ${leaks.join(', ')}`);
  const folder = join(HARNESS_ROOT, program.name, 'fixtures');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, file), content);
}

function remember(program: AgentProgram, name: string, entry: object): void {
  const file = join(HARNESS_ROOT, program.name, 'fixtures/recorded.json');
  const known: Record<string, unknown> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const sorted = Object.fromEntries(Object.entries({ ...known, [name]: entry }).toSorted(([a], [b]) => a.localeCompare(b)));
  save(program, 'recorded.json', `${JSON.stringify(sorted, undefined, 2)}\n`);
}
