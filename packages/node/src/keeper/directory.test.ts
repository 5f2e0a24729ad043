import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { removeDirectory } from './directory.ts';
import { systemProcesses } from './identity.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-keeper-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('the directory of a run that ended is taken away also by two at once', async () => {
  for (let round = 0; round < 200; round++) {
    const dir = join(folder, String(round));
    mkdirSync(dir);
    for (const name of ['exit', 'stdout', 'stderr', 'input']) writeFileSync(join(dir, name), '');
    await Promise.all([1, 2, 3].map(() => removeDirectory(dir, systemProcesses)));
    expect(existsSync(dir)).toBe(false);
  }
});
