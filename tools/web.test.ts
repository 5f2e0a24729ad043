import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { checkBudget } from './web.ts';

const folder = mkdtempSync(join(tmpdir(), 'web-budget-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** So many bytes that do not pack. */
const noise = (bytes: number): string => `/*${randomBytes(bytes / 2).toString('base64')}*/`;

const built = (name: string, files: Readonly<Record<string, string>>): string => {
  const root = join(folder, name);
  mkdirSync(join(root, 'assets'), { recursive: true });
  writeFileSync(
    join(root, 'index.html'),
    '<script type="module" src="/assets/index-1.js"></script><link href="/assets/a-1.css">',
  );
  for (const [path, text] of Object.entries({ 'a-1.css': 'p{}', ...files })) writeFileSync(join(root, 'assets', path), text);
  return root;
};

it('what a page loads later is not counted against its budget', () => {
  const later = built('later', { 'index-1.js': 'import("./big-1.js")', 'big-1.js': noise(900_000) });
  expect(checkBudget(later)).toBeLessThan(1_000);
});

it('a page that loads too much at once is refused, also by what its script imports', () => {
  expect(() => checkBudget(built('itself', { 'index-1.js': noise(900_000) }))).toThrow(/its budget is 300000/);
  const part = {
    'index-1.js': 'import{a as b}from"./part-1.js";import"./more-1.js";',
    'part-1.js': '',
    'more-1.js': noise(900_000),
  };
  expect(() => checkBudget(built('part', part))).toThrow(/its budget is 300000/);
});
