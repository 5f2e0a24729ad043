import { chmod, mkdtemp, readFile, rm, stat, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemRandom } from '../kernel/random.ts';
import { createSecrets, secretReference, secretVariable } from './secrets.ts';

describe('secrets', () => {
  let directory = '';
  const open = (env: Record<string, string> = {}) =>
    createSecrets({
      file: join(directory, 'secrets.json'),
      keyFile: join(directory, 'secret.key'),
      env,
      random: systemRandom,
      clock: { nowMs: () => 5 },
    });
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'orrery-secrets-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('come back as they were set, from sealed private files', async () => {
    await open().set('anthropic', 'sk-ant-hunter2');
    await open().set('other', 'zwei\nZeilen ü');
    expect([await open().read('anthropic'), await open().read('other'), await open().read('none')]).toEqual([
      'sk-ant-hunter2',
      'zwei\nZeilen ü',
      null,
    ]);
    const text = await readFile(join(directory, 'secrets.json'), 'utf8');
    for (const form of [
      'hunter2',
      Buffer.from('sk-ant-hunter2').toString('base64').slice(0, 12),
      Buffer.from('hunter2').toString('hex'),
    ])
      expect(text).not.toContain(form);
    for (const file of ['secrets.json', 'secret.key']) expect((await stat(join(directory, file))).mode & 0o777).toBe(0o600);
  });

  it('come from the environment first, and are listed by name and source alone', async () => {
    await open().set('openai', 'stored');
    await open().set('my.key', 'stored');
    const secrets = open({ ORRERY_SECRET_OPENAI: 'from environment', ORRERY_SECRET_EXTRA: 'x', ORRERY_SECRET_EMPTY: '' });
    expect([await secrets.read('openai'), await secrets.read('my.key'), await secrets.read('extra')]).toEqual([
      'from environment',
      'stored',
      'x',
    ]);
    expect(await secrets.list()).toEqual([
      { name: 'extra', source: 'environment', setAtMs: null },
      { name: 'my.key', source: 'store', setAtMs: 5 },
      { name: 'openai', source: 'environment', setAtMs: null },
    ]);
  });

  it('are gone when removed', async () => {
    await open().set('a', '1');
    expect([await open().remove('a'), await open().remove('a'), await open().read('a')]).toEqual([true, false, null]);
  });

  it('cannot be exchanged, changed or opened with another key', async () => {
    await open().set('a', 'first');
    await open().set('b', 'second');
    const file = join(directory, 'secrets.json');
    const { version, secrets } = JSON.parse(await readFile(file, 'utf8')) as {
      version: number;
      secrets: Record<string, unknown>;
    };
    await writeFile(file, JSON.stringify({ version, secrets: { a: secrets['b'], b: secrets['b'] } }));
    await expect(open().read('a')).rejects.toMatchObject({ code: 'config_invalid' });
    await expect(open().read('b')).resolves.toBe('second');
    await writeFile(join(directory, 'secret.key'), 'ab'.repeat(32));
    await expect(open().read('b')).rejects.toMatchObject({ code: 'config_invalid' });
    await unlink(join(directory, 'secret.key'));
    await expect(open().set('c', 'x')).rejects.toThrow('missing or damaged');
  });

  it('are refused from files that others may read', async () => {
    await open().set('a', '1');
    await chmod(join(directory, 'secrets.json'), 0o644);
    await expect(open().read('a')).rejects.toThrow('may be read or written by others');
  });

  it('keep every one of several set at once', async () => {
    const secrets = open();
    await Promise.all(['a', 'b', 'c', 'd'].map((name) => secrets.set(name, name)));
    expect((await secrets.list()).map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('have names that are only names', async () => {
    for (const name of ['', '../x', 'a b', '-a', '__proto__', 'x'.repeat(65)])
      await expect(open().read(name)).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(open().read('constructor')).resolves.toBeNull();
    expect([secretReference('secret:a'), secretReference('plain'), secretVariable('my-key.2')]).toEqual([
      'a',
      null,
      'ORRERY_SECRET_MY_KEY_2',
    ]);
  });
});
