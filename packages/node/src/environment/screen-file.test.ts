import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { screenFile } from './screen-file.ts';
import { screenFileOf } from './screens.ts';

const root = mkdtempSync(join(tmpdir(), 'orrery-screen-'));
afterAll(() => rmSync(root, { recursive: true }));

const remembered = { columns: 80, rows: 24, released: 10, screen: null };

it('what is remembered of a screen is read again', async () => {
  mkdirSync(join(root, 'env_1', 'private'), { recursive: true });
  const file = screenFile(screenFileOf(join(root, 'env_1'), 'one'));
  expect(await file.read()).toBeNull();
  await Promise.all([file.write(remembered), file.write({ ...remembered, released: 20 })]);
  expect(await file.read()).toEqual({ ...remembered, released: 20 });
});

it('an environment that is gone is not made again by it', async () => {
  const file = screenFile(screenFileOf(join(root, 'env_2'), 'one'));
  await file.write(remembered);
  expect(existsSync(join(root, 'env_2'))).toBe(false);
});
