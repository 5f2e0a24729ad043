import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makePlaceholders, removePlaceholders } from './placeholders.ts';

let root = '';
const at = (name: string): string => join(root, name);

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'orrery-placeholders-'));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

describe('placeholders', () => {
  it('are made with their parents for what is not there, and taken away while they are empty', async () => {
    mkdirSync(at('there'));
    writeFileSync(at('file'), 'x');
    const made = await makePlaceholders([at('a/b'), at('a/c'), at('there'), at('file'), at('there/d')]);
    expect(made).toEqual([at('a'), at('a/b'), at('a/c'), at('there/d')]);
    expect(await makePlaceholders([at('a/b')])).toEqual([]);
    writeFileSync(at('a/c/kept'), 'x');
    await removePlaceholders(made);
    await removePlaceholders(made);
    expect([readdirSync(root).toSorted(), readdirSync(at('a')), readdirSync(at('there'))]).toEqual([
      ['a', 'file', 'there'],
      ['c'],
      [],
    ]);
  });

  it.each([
    ['a link as the path', 'link'],
    ['a link on the way', 'link/below'],
    ['a file on the way', 'file/below'],
  ])('%s is refused, and nothing is made where it leads', async (_what, path) => {
    mkdirSync(at('elsewhere'));
    symlinkSync(at('elsewhere'), at('link'));
    writeFileSync(at('file'), 'x');
    await expect(makePlaceholders([at(path)])).rejects.toMatchObject({ code: 'path_refused' });
    expect(readdirSync(at('elsewhere'))).toEqual([]);
  });

  it('two programs that start at the same time make them once', async () => {
    const all = await Promise.all([1, 2, 3].map(() => makePlaceholders([at('x/y')])));
    expect(all.flat().toSorted()).toEqual([at('x'), at('x/y')]);
    expect(existsSync(at('x/y'))).toBe(true);
  });
});
