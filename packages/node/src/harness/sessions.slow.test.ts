// The pinned programs still say in conversations what they said when these were recorded.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { adapterOf, bytesOf } from '../../test/dialogue-script.ts';
import { scenariosOf, sessionScenarios, wordsOf } from '../../test/session-scenarios.ts';
import { openSpokenPlace, pinnedProgram, type Happened, type SpokenPlace } from '../../test/spoken-program.ts';
import { createHarnessRegistry } from './registry.ts';
import type { Harness } from './harness.ts';

const pinned = createHarnessRegistry().list.filter(({ pin, session }) => pin !== null && session !== null);

/** How the turns of a recording ended. */
const recorded = (harness: Harness, name: string): readonly string[] => {
  const text = readFileSync(join(import.meta.dirname, harness.id, 'fixtures/sessions', `${name}.jsonl`), 'utf8');
  const dialogue = adapterOf(harness).dialogue({ offset: 0, state: null });
  const steps = text
    .trimEnd()
    .split('\n')
    .flatMap((line) => {
      const happened = JSON.parse(line) as Happened;
      if ('begin' in happened) return [dialogue.begin(happened.begin)];
      if ('tell' in happened) return [dialogue.tell(happened.tell)];
      return 'hear' in happened ? dialogue.push(bytesOf(happened.hear)) : [];
    });
  return wordsOf(steps.flatMap(({ facts }) => facts));
};

/** A program that is stopped before it has begun ends its turn with an error of its own, or as stopped: which one is a matter of milliseconds. */
const stopped =
  (name: string) =>
  (word: string): string =>
    name === 'stops' && word === 'program' ? 'stopped' : word;

let place: SpokenPlace | null = null;
afterEach(async () => {
  await place?.close();
  place = null;
});

for (const harness of pinned) {
  // Failures take minutes with those that ask on, and waking waits for a minute with one: both are in the suites of sessions.
  const names = scenariosOf(harness).filter((name) => name !== 'fails' && name !== 'resumes');
  describe.skipIf(pinnedProgram(harness) === null)(`${harness.id}, spoken with`, { timeout: 180_000 }, () => {
    it.each(names)('%s: ends its turns as it did, says nothing unknown, and goes when its input ends', async (name) => {
      place = await openSpokenPlace();
      const { happened, ended, events } = await sessionScenarios[name]!(harness, place);
      expect(wordsOf(ended).map(stopped(name))).toEqual(recorded(harness, name).map(stopped(name)));
      expect(events.filter((event) => event.kind === 'notice' && /does not know/.test(event.text))).toEqual([]);
      expect(happened.at(-1)).toEqual({ end: { exitCode: 0, signal: null } });
    });
  });
}
