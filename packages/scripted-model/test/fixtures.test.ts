import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROGRAM_NAMES } from './agent-programs.ts';
import { SCENARIOS } from './scenarios.ts';
import { createScrubber, leaksIn } from './scrub.ts';

const HARNESS_ROOT = join(import.meta.dirname, '../../node/src/harness');

describe('recorded dialogues', () => {
  for (const name of PROGRAM_NAMES) {
    const folder = join(HARNESS_ROOT, name, 'fixtures');
    const files = readdirSync(folder, { withFileTypes: true }).flatMap((one) => (one.isFile() ? [one.name] : []));

    it(`${name}: there is one for every scenario, and each says how the program ended`, () => {
      const recorded = JSON.parse(readFileSync(join(folder, 'recorded.json'), 'utf8')) as Record<
        string,
        { turns: { file: string; exitCode: number | null; signal: string | null }[] }
      >;
      expect(Object.keys(recorded).toSorted()).toEqual(Object.keys(SCENARIOS).toSorted());
      const turns = Object.values(recorded).flatMap((entry) => entry.turns);
      expect(turns.map((turn) => turn.file).toSorted()).toEqual(files.filter((file) => file.endsWith('.jsonl')).toSorted());
      expect(turns.filter((turn) => turn.exitCode === null && turn.signal === null)).toEqual([]);
    });
  }

  it('nothing in any of them, of turns and of conversations, names the machine they were recorded on', () => {
    const all = readdirSync(HARNESS_ROOT, { recursive: true, encoding: 'utf8' }).filter((path) =>
      /fixtures\/.*\.jsonl?$/.test(path),
    );
    const named = all.flatMap((file) => {
      const text = readFileSync(join(HARNESS_ROOT, file), 'utf8');
      const paths = text.match(/(?<!\w)\/(tmp|work|home|root|Users)\/[\w.-]+/g) ?? [];
      return [...leaksIn(text), ...paths].map((leak) => `${file}: ${leak}`);
    });
    expect([all.length > 60, named]).toEqual([true, []]);
  });
});

it('the scrubber gives the same id the same number, and hides paths, ports and times', () => {
  const scrub = createScrubber({ root: '/tmp/orrery-agent-abc' });
  const [one, two] = ['11111111-2222-3333-4444-555555555555', '11111111-2222-3333-4444-666666666666'];
  expect(
    scrub(`${one} ${two} ${one} /tmp/orrery-agent-abc/work -tmp-orrery-agent-abc-work 127.0.0.1:4321 2026-11-30T20:12:40.633Z`),
  ).toBe(
    '00000000-0000-4000-8000-000000000001 00000000-0000-4000-8000-000000000002 00000000-0000-4000-8000-000000000001 /place/work -place-work 127.0.0.1:4800 2026-01-01T00:00:00.000Z',
  );
});
