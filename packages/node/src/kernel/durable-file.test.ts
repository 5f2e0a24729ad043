import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeDurably, writeWhole } from './durable-file.ts';

describe.each([
  ['a durable file', writeDurably],
  ['a whole file', writeWhole],
])('%s', (_, write) => {
  let directory = '';
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'orrery-durable-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('replaces the old contents and mode, and leaves no other file', async () => {
    const path = join(directory, 'file');
    await writeFile(path, 'old', { mode: 0o644 });
    await write(path, 'new');
    expect({
      text: await readFile(path, 'utf8'),
      mode: (await stat(path)).mode & 0o777,
      names: await readdir(directory),
    }).toEqual({
      text: 'new',
      mode: 0o600,
      names: ['file'],
    });
  });

  it('leaves nothing behind when the name cannot be replaced', async () => {
    await expect(write(join(directory, 'missing', 'file'), 'x')).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(write(directory, 'x')).rejects.toThrow();
    expect(await readdir(directory)).toEqual([]);
  });
});
