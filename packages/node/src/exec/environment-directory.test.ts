import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { environmentDirectory } from './environment-directory.ts';

const record = { version: 1, id: 'env', taskId: 'task', frontPort: 7777 } as const;
let root = '';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'orrery-environment-'));
});

afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

describe('the directory of an environment', () => {
  it('keeps its record, closed to others, and forgets everything when it is removed', async () => {
    const directory = environmentDirectory(root, 'env');
    expect(await directory.read()).toBeNull();
    await directory.create(record);
    const file = await directory.provide('token', Buffer.from('one'));
    await directory.provide('token', Buffer.from('two'));
    expect([await directory.read(), readFileSync(file, 'utf8')]).toEqual([record, 'two']);
    expect([directory.path, file].map((path) => statSync(path).mode & 0o77)).toEqual([0, 0]);
    await directory.remove();
    await directory.remove();
    expect(existsSync(directory.path)).toBe(false);
  });

  it.each(['', '{"version":1,"id":"en'])('whose record a power cut left as %j was never opened', async (torn) => {
    const directory = environmentDirectory(root, 'env');
    await directory.create(record);
    writeFileSync(join(directory.path, 'environment.json'), torn);
    expect(await directory.read()).toBeNull();
    await directory.remove();
    expect(existsSync(directory.path)).toBe(false);
  });

  it('can be made again as long as nothing ran in it, and not afterwards', async () => {
    const directory = environmentDirectory(root, 'env');
    await directory.create(record);
    await directory.create({ ...record, frontPort: 8888 });
    expect((await directory.read())?.frontPort).toBe(8888);
    mkdirSync(directory.runDir('run'));
    await expect(directory.create(record)).rejects.toMatchObject({ code: 'conflict' });
  });

  it('is never removed together with a run that is still there', async () => {
    const directory = environmentDirectory(root, 'env');
    await directory.create(record);
    mkdirSync(directory.runDir('run'));
    await expect(directory.remove()).rejects.toMatchObject({ code: 'ENOTEMPTY' });
    expect(await directory.runs()).toEqual(['run']);
  });

  it.each(['', '.', '..', '../x', 'a/b', '.hidden', 'a b', 'x'.repeat(129)])(
    '"%s" is no name of an environment, a run or a file',
    async (name) => {
      const refused = expect.objectContaining({ code: 'invalid_input' });
      expect(() => environmentDirectory(root, name)).toThrow(refused);
      expect(() => environmentDirectory(root, 'env').runDir(name)).toThrow(refused);
      await expect(environmentDirectory(root, 'env').provide(name, Buffer.from(''))).rejects.toEqual(refused);
    },
  );
});
