import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../kernel/clock.ts';
import { createIds } from '../kernel/ids.ts';
import { systemRandom } from '../kernel/random.ts';
import { takeDataLock } from './data-lock.ts';
import { installationId, removeDescriptor, writeDescriptor } from './descriptor.ts';
import { makeDirectories, pathsIn, resolvePaths } from './paths.ts';

describe('the places of the node', () => {
  const given = { home: '/home/me', cwd: '/somewhere' };

  it('are the XDG directories, unless said otherwise', () => {
    const places = (env: Record<string, string>, more: { data?: string; config?: string } = {}) => {
      const { data, config, configFile } = resolvePaths({ ...given, env, ...more });
      return { data, config, configFile };
    };
    expect(places({})).toEqual({
      data: '/home/me/.local/share/orrery',
      config: '/home/me/.config/orrery',
      configFile: '/home/me/.config/orrery/config.yaml',
    });
    expect(places({ XDG_DATA_HOME: '/d', XDG_CONFIG_HOME: '/c' })).toEqual({
      data: '/d/orrery',
      config: '/c/orrery',
      configFile: '/c/orrery/config.yaml',
    });
    expect(places({ XDG_DATA_HOME: 'relative', ORRERY_CONFIG: 'conf', ORRERY_DATA: 'd' })).toEqual({
      data: '/somewhere/d',
      config: '/somewhere/conf',
      configFile: '/somewhere/conf/config.yaml',
    });
    expect(places({ ORRERY_CONFIG: '/x', ORRERY_DATA: '/y' }, { config: 'my.json', data: '/z' })).toEqual({
      data: '/z',
      config: '/somewhere',
      configFile: '/somewhere/my.json',
    });
  });
});

describe('the data directory', () => {
  let directory = '';
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'orrery-places-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('is made for its user alone', async () => {
    const paths = pathsIn({ data: join(directory, 'data'), configFile: join(directory, 'config', 'config.yaml') });
    const uid = process.getuid!();
    await makeDirectories(paths, uid);
    for (const made of [paths.data, paths.config]) expect((await stat(made)).mode & 0o777).toBe(0o700);
    await expect(makeDirectories(paths, uid + 1)).rejects.toMatchObject({ code: 'path_refused' });
  });

  it('has one node; a second is told which', async () => {
    const asked = { lock: join(directory, 'node.lock'), data: directory, pid: 42 };
    const first = await takeDataLock(asked);
    await first.describe({ pid: 42, url: 'http://127.0.0.1:1' });
    await expect(takeDataLock(asked)).rejects.toMatchObject({
      code: 'node_already_running',
      details: { data: directory, pid: 42, url: 'http://127.0.0.1:1' },
    });
    first.release();
    (await takeDataLock(asked)).release();
  });

  it('is described to clients by a private file that goes with its node', async () => {
    const file = join(directory, 'node.json');
    const descriptor = {
      installationId: 'i',
      generation: 'g',
      pid: 1,
      url: 'http://127.0.0.1:1',
      tokenFile: 't',
      version: '1',
      startedAt: 'x',
    };
    await writeDescriptor(file, descriptor);
    expect([JSON.parse(await readFile(file, 'utf8')), (await stat(file)).mode & 0o777]).toEqual([descriptor, 0o600]);
    await removeDescriptor(file, 'another');
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(descriptor);
    await removeDescriptor(file, 'g');
    await expect(stat(file)).rejects.toThrow('ENOENT');
  });

  it('keeps its id', async () => {
    const ids = createIds({ clock: systemClock, random: systemRandom });
    const file = join(directory, 'installation');
    const made = await installationId(file, ids);
    expect(await installationId(file, ids)).toBe(made);
  });
});
