/**
 * Records what the installed programs say in conversations, as fixtures for the session part of their adapters.
 *   node tools/record-sessions.ts [program] [dialogue]
 * One `fixtures/sessions/<dialogue>.jsonl` for each: what happened, in its order, a line for each thing.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { createScrubber, leaksIn } from '../packages/scripted-model/test/scrub.ts';
import { createHarnessRegistry } from '../packages/node/src/harness/registry.ts';
import { scenariosOf, sessionScenarios, wordsOf } from '../packages/node/test/session-scenarios.ts';
import { openSpokenPlace, pinnedProgram, type Happened } from '../packages/node/test/spoken-program.ts';

/** Texts that are longer are cut in recordings: lists of commands hold whole manuals. */
const MAX_TEXT = 2_000;
const LONG_LINE = 20_000;

const cut = (value: unknown): unknown => {
  if (typeof value === 'string') return value.length > MAX_TEXT ? `${value.slice(0, 200)} [cut]` : value;
  if (Array.isArray(value)) return value.map(cut);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, cut(one)]));
};

const shortened = (happened: Happened): Happened =>
  'hear' in happened && happened.hear.length > LONG_LINE && happened.hear.startsWith('{')
    ? { hear: JSON.stringify(cut(JSON.parse(happened.hear))) }
    : happened;

const [onlyProgram, onlyDialogue] = process.argv.slice(2);
for (const harness of createHarnessRegistry().list) {
  if (harness.pin === null || harness.session === null || (onlyProgram ?? harness.id) !== harness.id) continue;
  if (pinnedProgram(harness) === null) throw new Error(`${harness.id} is not installed`);
  const folder = join(import.meta.dirname, '../packages/node/src/harness', harness.id, 'fixtures/sessions');
  mkdirSync(folder, { recursive: true });
  for (const name of scenariosOf(harness)) {
    if ((onlyDialogue ?? name) !== name) continue;
    const place = await openSpokenPlace();
    try {
      const held = await sessionScenarios[name]!(harness, place);
      const text = createScrubber(place)(held.happened.map((one) => `${JSON.stringify(shortened(one))}\n`).join(''));
      const leaks = leaksIn(text);
      if (leaks.length > 0) throw new Error(`${harness.id} ${name}: after scrubbing it still says ${leaks.join(', ')}`);
      writeFileSync(join(folder, `${name}.jsonl`), text);
      process.stdout.write(`${harness.id} ${name}: ${wordsOf(held.ended).join(', ')}; ${text.length} bytes\n`);
    } finally {
      await place.close();
    }
  }
}
