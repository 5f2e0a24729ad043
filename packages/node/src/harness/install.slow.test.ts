// The real npm against a registry of this test's own: what it makes, checks and refuses.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProgramPin } from './harness.ts';
import { createHarnessPrograms } from './install.ts';

const hasNpm = spawnSync('npm', ['--version']).status === 0;
if (!hasNpm) console.warn('SKIPPED: there is no npm on this machine');

describe.skipIf(!hasNpm)('installing with npm', () => {
  let directory = '';
  let tarball = Buffer.alloc(0);
  let integrity = '';
  let registry: Server;
  let url = '';

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'orrery-install-'));
    const source = join(directory, 'package');
    await mkdir(source);
    const scripts = { install: `touch ${join(directory, 'script-ran')}` };
    await writeFile(
      join(source, 'package.json'),
      JSON.stringify({ name: 'tiny-tool', version: '1.0.0', files: ['tool'], scripts }),
    );
    await writeFile(join(source, 'tool'), '#!/bin/sh\necho tiny-tool 1.0.0\n');
    await chmod(join(source, 'tool'), 0o755);
    spawnSync('tar', ['-czf', join(directory, 'tiny.tgz'), '-C', directory, 'package']);
    tarball = await readFile(join(directory, 'tiny.tgz'));
    integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
    registry = createServer((request, response) => {
      if (request.url === '/tiny.tgz') return void response.end(tarball);
      if (request.url !== '/tiny-tool') return void response.writeHead(404).end('{}');
      const version = { name: 'tiny-tool', version: '1.0.0', scripts, dist: { tarball: `${url}/tiny.tgz`, integrity } };
      response.end(JSON.stringify({ name: 'tiny-tool', 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version } }));
    });
    await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    registry.close();
    registry.closeAllConnections();
    await rm(directory, { recursive: true });
  });

  const programs = (given: { readonly integrity?: string; readonly registry?: string; readonly name: string }) => {
    const pin: ProgramPin = {
      version: '1.0.0',
      packages: [{ name: 'tiny-tool', version: '1.0.0', platforms: ['any'], integrity: given.integrity ?? integrity }],
      executable: { any: 'node_modules/tiny-tool/tool' },
      runsOnNode: false,
    };
    const env = {
      PATH: process.env['PATH'],
      HOME: directory,
      npm_config_registry: given.registry ?? url,
      npm_config_cache: join(directory, 'cache'),
      npm_config_fetch_retries: '0',
    };
    const place = join(directory, given.name);
    return {
      place,
      programs: createHarnessPrograms({ directory: place, platform: 'any', pins: new Map([['tiny', pin]]), npm: 'npm', env }),
    };
  };

  it('makes the pinned package, runs none of its scripts, and finds it again', async () => {
    const { place, programs: made } = programs({ name: 'good' });
    const [one, two] = await Promise.all([made.install('tiny'), programs({ name: 'good' }).programs.install('tiny')]);
    expect(one).toMatchObject({ version: '1.0.0', path: join(place, 'tiny', '1.0.0') });
    expect(two.path).toBe(one.path);
    const found = await made.installed('tiny');
    expect(spawnSync(found?.executable ?? '', ['--version'], { encoding: 'utf8' }).stdout).toBe('tiny-tool 1.0.0\n');
    expect(await readdir(directory)).not.toContain('script-ran');
  });

  it.each([
    ['another package than the pinned one', { name: 'foreign', integrity: 'sha512-AAAA' }, /integrity differs/],
    ['no registry', { name: 'away', registry: 'http://127.0.0.1:1' }, /could not be installed: .*ECONN(REFUSED|RESET)/],
  ] as const)('leaves nothing behind with %s', async (_, given, message) => {
    const { place, programs: made } = programs(given);
    await expect(made.install('tiny')).rejects.toThrow(message);
    expect((await readdir(place)).filter((name) => name !== '.trash')).toEqual([]);
  });
});
