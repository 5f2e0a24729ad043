// The pinned agent programs for suites that run them, in `.tools/programs/<harness>`: `node tools/agent-programs.ts`
// installs what is missing or of another version. The pins are those of the product.
import { dirname, join } from 'node:path';
import { claudePin } from '../packages/node/src/harness/claude/pin.ts';
import { codexPin } from '../packages/node/src/harness/codex/pin.ts';
import type { ProgramPin } from '../packages/node/src/harness/harness.ts';
import { copilotPin } from '../packages/node/src/harness/copilot/pin.ts';
import { geminiPin } from '../packages/node/src/harness/gemini/pin.ts';
import { opencodePin } from '../packages/node/src/harness/opencode/pin.ts';
import { piPin } from '../packages/node/src/harness/pi/pin.ts';
import { qwenPin } from '../packages/node/src/harness/qwen/pin.ts';
import { installPinned, isInstalled } from './pinned.ts';

/** Where the programs are: below each harness's name its own node_modules. */
export const PROGRAMS_FOLDER = join(dirname(import.meta.dirname), '.tools', 'programs');

/** The pins of the product, by harness. */
export const PINS: Readonly<Record<string, ProgramPin>> = {
  pi: piPin,
  claude: claudePin,
  codex: codexPin,
  opencode: opencodePin,
  gemini: geminiPin,
  copilot: copilotPin,
  qwen: qwenPin,
};

/** Installs every pinned program that is missing. Returns why each of the others could not be had; empty is all of them. */
export function installPrograms(): string[] {
  return Object.entries(PINS).flatMap(([id, pin]) => installPinned(join(PROGRAMS_FOLDER, id), id, pin) ?? []);
}

/** The harnesses whose pinned program is made for this platform. */
export function programsOfPlatform(): string[] {
  const platform = `${process.platform}-${process.arch}`;
  return Object.entries(PINS).flatMap(([id, pin]) => (pin.executable[platform] === undefined ? [] : [id]));
}

/** The harnesses whose pinned program is installed here. */
export function installedPrograms(): string[] {
  return Object.entries(PINS).flatMap(([id, pin]) => (isInstalled(join(PROGRAMS_FOLDER, id), pin) ? [id] : []));
}

if (import.meta.main) {
  const problems = installPrograms();
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  process.stdout.write(`installed in .tools/programs: ${installedPrograms().join(', ') || 'nothing'}\n`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
