import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeBelow } from './write-below.ts';

describe('a file that is written into a home', () => {
  let home = '';
  let elsewhere = '';
  beforeEach(() => {
    const folder = mkdtempSync(join(tmpdir(), 'write-below-'));
    home = join(folder, 'home');
    elsewhere = join(folder, 'elsewhere');
    mkdirSync(home);
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, 'kept'), 'mine');
  });
  afterEach(() => rmSync(join(home, '..'), { recursive: true }));

  it('is private, has its folders made, and is replaced whole', async () => {
    await writeBelow(home, '.codex/deep/config.toml', 'one');
    await writeBelow(home, '.codex/deep/config.toml', 'two');
    const file = join(home, '.codex/deep/config.toml');
    expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual(['two', 0o600]);
    expect(readdirSync(join(home, '.codex/deep'))).toEqual(['config.toml']);
    expect(statSync(join(home, '.codex')).mode & 0o777).toBe(0o700);
  });

  it('stays below the home, whatever its path says', async () => {
    await writeBelow(home, '../../elsewhere/kept', 'in the home');
    expect(readFileSync(join(home, 'elsewhere/kept'), 'utf8')).toBe('in the home');
    expect(readFileSync(join(elsewhere, 'kept'), 'utf8')).toBe('mine');
  });

  it('goes through no link to a folder', async () => {
    symlinkSync(elsewhere, join(home, '.codex'));
    mkdirSync(join(home, 'real'));
    symlinkSync(elsewhere, join(home, 'real/link'));
    for (const path of ['.codex/config.toml', 'real/link/config.toml', '.codex/sub/config.toml'])
      await expect(writeBelow(home, path, 'x')).rejects.toMatchObject({ code: 'conflict' });
    expect(readdirSync(elsewhere)).toEqual(['kept']);
  });

  it('takes the place of a link, and leaves what it leads to alone', async () => {
    symlinkSync(join(elsewhere, 'kept'), join(home, 'file'));
    symlinkSync(join(elsewhere, 'never'), join(home, 'dangling'));
    await writeBelow(home, 'file', 'x');
    await writeBelow(home, 'dangling', 'x');
    expect(readFileSync(join(elsewhere, 'kept'), 'utf8')).toBe('mine');
    expect(existsSync(join(elsewhere, 'never'))).toBe(false);
    expect(readFileSync(join(home, 'file'), 'utf8')).toBe('x');
  });

  it('says what is in its way, and leaves nothing half', async () => {
    writeFileSync(join(home, 'plain'), '');
    mkdirSync(join(home, 'folder/full'), { recursive: true });
    await expect(writeBelow(home, 'plain/file', 'x')).rejects.toMatchObject({ code: 'conflict' });
    await expect(writeBelow(home, 'folder', 'x')).rejects.toMatchObject({ code: 'conflict' });
    expect(readdirSync(home).toSorted()).toEqual(['folder', 'plain']);
  });
});
