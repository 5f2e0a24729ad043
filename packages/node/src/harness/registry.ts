import { closest, OrreryError } from '@orrery/protocol/errors';
import { claudeHarness } from './claude/index.ts';
import { codexHarness } from './codex/index.ts';
import { commandHarness } from './command/index.ts';
import { copilotHarness } from './copilot/index.ts';
import { geminiHarness } from './gemini/index.ts';
import type { Harness } from './harness.ts';
import { opencodeHarness } from './opencode/index.ts';
import { piHarness } from './pi/index.ts';
import { qwenHarness } from './qwen/index.ts';

/** The harnesses of a node, by id. */
export type HarnessRegistry = {
  readonly list: readonly Harness[];
  /** @throws OrreryError unknown_name with the known ids and a guess */
  get(id: string): Harness;
};

/** The built-in adapters. */
export const builtinHarnesses: readonly Harness[] = [
  claudeHarness,
  codexHarness,
  piHarness,
  opencodeHarness,
  geminiHarness,
  copilotHarness,
  qwenHarness,
  commandHarness,
];

/** Makes a registry of these adapters. */
export const createHarnessRegistry = (list: readonly Harness[] = builtinHarnesses): HarnessRegistry => ({
  list,
  get(id) {
    const found = list.find((harness) => harness.id === id);
    if (found !== undefined) return found;
    const known = list.map((harness) => harness.id);
    const guess = closest(id, known);
    throw new OrreryError('unknown_name', `There is no harness ${JSON.stringify(id.slice(0, 100))}.`, {
      rule: `Known: ${known.join(', ')}.`,
      fix: guess === null ? 'orrery harness list' : `Did you mean ${guess}?`,
      details: { known },
    });
  },
});
