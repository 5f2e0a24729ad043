import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ProgramPin } from './harness.ts';
import { createHarnessPrograms, type HarnessPrograms } from './install.ts';
import type { RanToEnd, ToRun } from './run-to-end.ts';

const pin: ProgramPin = {
  version: '1.2.3',
  packages: [
    { name: '@x/tool-linux-x64', version: 'npm:@x/tool@1.2.3-linux', platforms: ['linux-x64'], integrity: 'sha512-right' },
    { name: '@x/tool-darwin', version: '1.2.3', platforms: ['darwin-arm64'], integrity: 'sha512-other' },
  ],
  executable: { 'linux-x64': 'node_modules/@x/tool-linux-x64/tool' },
  runsOnNode: false,
};

let directory = '';
const ran: ToRun[] = [];
beforeEach(async () => {
  ran.length = 0;
  directory = await mkdtemp(join(tmpdir(), 'orrery-programs-'));
});
afterEach(() => rm(directory, { recursive: true }));

/** npm as far as the installer sees it: it fills the folder, or says why not. */
const npm = async (run: ToRun, { integrity = 'sha512-right', stderr = '', version = '1.2.3' }): Promise<RanToEnd> => {
  ran.push(run);
  if (run.args.includes('--version')) return { exitCode: 0, stdout: `tool ${version}\n`, stderr: '', timedOut: false };
  const folder = join(run.cwd, 'node_modules/@x/tool-linux-x64');
  await mkdir(folder, { recursive: true });
  if (stderr !== '') return { exitCode: 1, stdout: '', stderr, timedOut: false };
  await writeFile(join(folder, 'tool'), '');
  await writeFile(
    join(run.cwd, 'package-lock.json'),
    JSON.stringify({ packages: { '': {}, 'node_modules/@x/tool-linux-x64': { integrity } } }),
  );
  return { exitCode: 0, stdout: '', stderr: '', timedOut: false };
};

const programs = (given: Parameters<typeof npm>[1] = {}): HarnessPrograms =>
  createHarnessPrograms({
    directory,
    platform: 'linux-x64',
    pins: new Map([
      ['tool', pin],
      ['command', null],
    ]),
    node: '/node/bin/node',
    npm: 'npm',
    env: {
      PATH: '/bin',
      HOME: '/me',
      NODE_EXTRA_CA_CERTS: '/ca',
      npm_config_registry: 'http://r',
      ANTHROPIC_API_KEY: 'canary',
      ORRERY_TOKEN: 'canary',
    },
    run: (run) => npm(run, given),
  });

describe('installing programs', () => {
  it('makes the pinned packages of this platform, without scripts, and knows them afterwards', async () => {
    const steps: string[] = [];
    const place = join(directory, 'tool', '1.2.3');
    expect(await programs().installed('tool')).toBeNull();
    expect(await programs().install('tool', (step) => steps.push(step))).toEqual({
      id: 'tool',
      version: '1.2.3',
      path: place,
      alreadyThere: false,
      tookMs: expect.any(Number),
    });
    expect(await programs().installed('tool')).toEqual({
      directory: place,
      executable: join(place, 'node_modules/@x/tool-linux-x64/tool'),
      version: '1.2.3',
      node: '/node/bin/node',
    });
    expect(steps).toEqual(['downloading tool 1.2.3', 'checking tool 1.2.3', 'tool 1.2.3 is installed']);
    expect(ran[0]).toMatchObject({ command: 'npm', args: expect.arrayContaining(['install', '--ignore-scripts']) });
    expect(ran[0]?.env).toEqual({
      PATH: '/node/bin:/bin',
      HOME: '/me',
      NODE_EXTRA_CA_CERTS: '/ca',
      npm_config_registry: 'http://r',
    });
    expect(await programs().install('tool')).toMatchObject({ alreadyThere: true, path: place });
    expect(ran).toHaveLength(2);
  });

  it('does the work once for two at once, in one process and in two', async () => {
    const one = programs();
    const results = await Promise.all([one.install('tool'), one.install('tool'), programs().install('tool')]);
    expect(new Set(results.map(({ path }) => path)).size).toBe(1);
    expect(await readdir(join(directory, 'tool'))).toEqual(['1.2.3']);
    expect((await readdir(directory)).filter((name) => name.startsWith('.making'))).toEqual([]);
  });

  it.each([
    [
      'npm fails',
      {
        stderr:
          'npm error code ENOTFOUND\nnpm error network request to registry failed\nnpm error A complete log of this run is in /x',
      },
      /ENOTFOUND; network request to registry failed/,
    ],
    ['the registry gives another package', { integrity: 'sha512-wrong' }, /integrity differs/],
    ['the program says another version', { version: '9.9.9' }, /does not run here: tool 9.9.9/],
    ['the disk is full', { stderr: 'npm error code ENOSPC' }, /disk is full/],
  ] as const)('leaves nothing when %s', async (_, given, message) => {
    await expect(programs(given).install('tool')).rejects.toThrow(message);
    expect((await readdir(directory)).filter((name) => name !== '.trash')).toEqual([]);
    expect(await programs().installed('tool')).toBeNull();
  });

  it('clears what a killed installation left, and a place that is not whole', async () => {
    const old = join(directory, '.making-tool-old');
    await mkdir(old);
    await utimes(old, new Date(0), new Date(0));
    await mkdir(join(directory, 'tool', '1.2.3', 'node_modules'), { recursive: true });
    expect(await programs().install('tool')).toMatchObject({ alreadyThere: false });
    expect((await readdir(directory)).filter((name) => name !== '.trash')).toEqual(['tool']);
  });

  it('knows a shared folder without a version in its path, and refuses one with other packages', async () => {
    const shared = join(directory, 'tool');
    await mkdir(shared);
    await writeFile(
      join(shared, 'package.json'),
      JSON.stringify({ dependencies: { '@x/tool-linux-x64': 'npm:@x/tool@1.2.3-linux' } }),
    );
    await npm({ command: '', args: [], cwd: shared, env: {}, timeoutMs: 0 }, {});
    expect(await programs().installed('tool')).toMatchObject({ directory: shared });
    await writeFile(
      join(shared, 'package.json'),
      JSON.stringify({ dependencies: { '@x/tool-linux-x64': 'npm:@x/tool@1.2.4-linux' } }),
    );
    expect(await programs().installed('tool')).toBeNull();
  });

  it('says what it cannot install', async () => {
    await expect(programs().install('command')).rejects.toMatchObject({ code: 'unsupported' });
    await expect(programs().install('tol')).rejects.toMatchObject({ code: 'unknown_name' });
    const elsewhere = createHarnessPrograms({ directory, platform: 'win32-x64', pins: new Map([['tool', pin]]) });
    await expect(elsewhere.install('tool')).rejects.toMatchObject({
      code: 'unsupported',
      message: 'The program of tool is not made for win32-x64.',
    });
    expect(await programs().installed('command')).toBeNull();
  });
});
