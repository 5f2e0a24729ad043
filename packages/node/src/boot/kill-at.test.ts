import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { KillPoint } from '../run/kill-points.ts';
import { killAt } from './kill-at.ts';

/** Passes points, and tells how often the node would have died. */
const passing = (setting: string | undefined) => {
  let ends = 0;
  const at = killAt(setting, () => (ends += 1));
  return (...passed: readonly (readonly [KillPoint, string?])[]): number => {
    for (const [point, where = ''] of passed) at(point, where);
    return ends;
  };
};

it('ends the node at the point, stage and time it was told, and nowhere without one', () => {
  expect(passing(undefined)(['collected'])).toBe(0);
  expect(passing('collected')(['claimed'], ['collected'])).toBe(1);
  expect(passing('run-ended:verify')(['run-ended', 'setup'])).toBe(0);
  expect(passing('run-ended:verify')(['run-ended', 'verify'])).toBe(1);
  expect(passing('collected::2')(['collected'])).toBe(0);
  expect(passing('collected::2')(['collected'], ['collected'], ['collected'])).toBe(1);
});

it('is told by a file while it runs, and counts from then', () => {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-kill-at-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'point');
  const pass = passing(`@${file}`);
  expect(pass(['collected'])).toBe(0);
  writeFileSync(file, 'collected::2\n');
  expect(pass(['collected'])).toBe(0);
  expect(pass(['collected'])).toBe(1);
  writeFileSync(file, '');
  expect(pass(['collected'], ['collected'])).toBe(1);
});
