import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = dirname(import.meta.dirname);

type Ended = { status: number | null; stdout: string; stderr: string };

function run(command: string, args: readonly string[], options: { cwd: string; env?: NodeJS.ProcessEnv }): Ended {
  const { status, stdout, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
  });
  return { status, stdout, stderr };
}

function mustRun(command: string, args: readonly string[], cwd: string): string {
  const ended = run(command, args, { cwd });
  if (ended.status !== 0) throw new Error(`${command} ${args.join(' ')}: ${ended.status}\n${ended.stdout}${ended.stderr}`);
  return ended.stdout;
}

/** Installs packages from the registry into a folder of their own. */
function fetchPackages(folder: string, packages: readonly string[]): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  mustRun('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', ...packages], folder);
}

/** The repository as a clone of it would be: tracked files only, no dependencies, no build. */
function cloneTo(folder: string): void {
  const tracked = mustRun('git', ['-c', 'safe.directory=*', 'ls-files', '-z'], root).split('\0');
  for (const path of tracked.filter((one) => one !== '' && existsSync(join(root, one))))
    cpSync(join(root, path), join(folder, path));
}

/** A clone with a script of its own, `npm run probe`, that tells what it sees. */
function prepareClone(clone: string): void {
  cloneTo(clone);
  const manifest = JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8'));
  manifest.scripts.probe = 'node tools/with-node.mjs tools/probe.ts word';
  writeFileSync(join(clone, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(clone, 'tools', 'probe.ts'), PROBE);
}

/** A PATH that has what a bare machine has, and no compiler. */
function barePath(folder: string, node: string): string {
  mkdirSync(folder);
  symlinkSync(node, join(folder, 'node'));
  for (const name of ['git', 'sh', 'env', 'uname', 'readlink', 'dirname', 'cat']) {
    const found = (process.env.PATH ?? '').split(delimiter).find((one) => existsSync(join(one, name)));
    if (found !== undefined) symlinkSync(join(found, name), join(folder, name));
  }
  return folder;
}

/** Starts a script under the bootstrap, ends the bootstrap by SIGTERM once the script runs, and returns how it ended. */
function terminated(
  node: string,
  { clone, env, script }: { clone: string; env: NodeJS.ProcessEnv; script: string },
): Promise<{ code: number | null; signal: string | null }> {
  writeFileSync(join(clone, 'tools', 'waits.ts'), `${script}\nconsole.log('ready');\nsetInterval(() => undefined, 1_000);\n`);
  const child = spawn(node, [join(clone, 'tools', 'with-node.mjs'), 'tools/waits.ts'], {
    cwd: clone,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout.once('data', () => child.kill('SIGTERM'));
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
}

const PROBE = `
import { createRequire } from 'node:module';
import { version } from '@orrery/protocol/version';
type Opens = new (path: string) => { prepare(sql: string): { get(): unknown } };
const Database: Opens = createRequire(new URL('../packages/node/package.json', import.meta.url))('better-sqlite3');
const names = Object.keys(process.env);
console.log(JSON.stringify({
  version,
  typescript: Number(process.versions.node.split('.')[0]) >= 22,
  sqlite: new Database(':memory:').prepare('select 1 as one').get(),
  argument: process.argv[2],
  scriptNames: names.filter((name) => /^npm_(package|lifecycle)_/.test(name)),
  keptConfiguration: process.env.npm_config_orrery_probe,
  keptAuthority: process.env.NODE_EXTRA_CA_CERTS_PROBE,
}));
process.exit(7);
`;

const EXPECTED = {
  version: '0.1.0',
  typescript: true,
  sqlite: { one: 1 },
  argument: 'word',
  scriptNames: [],
  keptConfiguration: 'kept',
  keptAuthority: 'kept',
};

describe('the bootstrap in a clean clone, on Node 20 without a compiler', () => {
  let temp = '';
  let node20 = '';

  beforeAll(() => {
    temp = mkdtempSync(join(tmpdir(), 'orrery clone ü-'));
    const name = `node-${process.platform}-${process.arch}`;
    fetchPackages(join(temp, 'node20'), [`${name}@20`]);
    node20 = join(temp, 'node20', 'node_modules', name, 'bin', 'node');
    for (const major of [10, 11]) fetchPackages(join(temp, `npm${major}`), [`npm@${major}`]);
  }, 120_000);

  afterAll(() => {
    if (temp !== '') rmSync(temp, { recursive: true, force: true });
  });

  it.each([10, 11])(
    'installs the locked dependencies with npm %i, runs the script, and starts at once the second time',
    async (major) => {
      const clone = join(temp, `clone${major}`);
      prepareClone(clone);
      const path = barePath(join(temp, `path${major}`), node20);
      const kept = { npm_config_orrery_probe: 'kept', NODE_EXTRA_CA_CERTS_PROBE: 'kept' };
      const env = { ...process.env, ...kept, PATH: path, CC: undefined, npm_execpath: undefined };
      const npm = join(temp, `npm${major}`, 'node_modules', 'npm', 'bin', 'npm-cli.js');

      const first = run(node20, [npm, 'run', '--silent', 'probe'], { cwd: clone, env });
      expect({ status: first.status, said: first.stdout === '' ? first.stderr : JSON.parse(first.stdout) }).toEqual({
        status: 7,
        said: EXPECTED,
      });
      expect(first.stderr).toContain('fetching Node 24');
      expect(first.stderr).toContain('dependencies are ready');

      const bare = run(node20, [join(clone, 'tools', 'with-node.mjs'), '-e', '0'], { cwd: clone, env });
      expect({ status: bare.status, stdout: bare.stdout, installed: bare.stderr.includes('installing') }).toEqual({
        status: 0,
        stdout: '',
        installed: false,
      });
      expect(await terminated(node20, { clone, env, script: "process.on('SIGTERM', () => process.exit(5));" })).toEqual({
        code: 5,
        signal: null,
      });
      expect(await terminated(node20, { clone, env, script: '' })).toEqual({ code: null, signal: 'SIGTERM' });

      const version = run(join(clone, 'bin', 'orrery'), ['--version'], { cwd: temp, env });
      expect(version).toEqual({ status: 0, stdout: '0.1.0\n', stderr: '' });
      rmSync(clone, { recursive: true, force: true });
    },
    180_000,
  );

  it('says in three lines what to do when the command line is started before anything is installed', () => {
    const clone = join(temp, 'bare');
    cloneTo(clone);
    const env = { ...process.env, PATH: barePath(join(temp, 'path-bare'), node20) };
    const { status, stdout, stderr } = run(join(clone, 'bin', 'orrery'), ['--version'], { cwd: temp, env });
    expect({ status, stdout, lines: stderr.trimEnd().split('\n').length }).toEqual({ status: 1, stdout: '', lines: 3 });
    expect(stderr).toContain('npm run quickstart');
  });

  it('starts through a chain of links', () => {
    symlinkSync(join(root, 'bin', 'orrery'), join(temp, 'first'));
    symlinkSync('first', join(temp, 'second'));
    expect(run(join(temp, 'second'), ['--version'], { cwd: temp })).toEqual({ status: 0, stdout: '0.1.0\n', stderr: '' });
  });
});

const compiler = ['cc', 'gcc', 'clang'].find((name) => spawnSync(name, ['--version']).status === 0);
if (compiler === undefined)
  process.stderr.write('SKIPPED: there is no C compiler; nothing here says that the keeper is built anywhere.\n');

describe.skipIf(compiler === undefined)('building the keeper', () => {
  it('works in a folder of any name, and puts it where the caller says', { timeout: 300_000 }, () => {
    const folder = mkdtempSync(join(tmpdir(), "orrery it's a clone ü-"));
    try {
      for (const part of ['build.sh', 'keeper', 'test'])
        cpSync(join(root, 'native', part), join(folder, 'native', part), { recursive: true });
      const env = { ...process.env, CC: compiler };
      const built = run('sh', ['native/build.sh', 'release', 'out/keeper'], { cwd: folder, env });
      expect({ status: built.status, said: built.status === 0 ? '' : built.stderr }).toEqual({ status: 0, said: '' });
      expect(run(join(folder, 'out', 'keeper'), ['version'], { cwd: folder }).status).toBe(0);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('orrery --version', () => {
  it('answers in under 80 ms (median of 15, above a bare Node at most twice its time on a busy machine)', () => {
    const median = (command: string, args: readonly string[]): number => {
      const times = Array.from({ length: 15 }, () => {
        const began = performance.now();
        spawnSync(command, args);
        return performance.now() - began;
      });
      return times.toSorted((left, right) => left - right)[7] ?? Infinity;
    };
    const ours = median(join(root, 'bin', 'orrery'), ['--version']);
    const bare = median(process.execPath, ['-e', '0']);
    expect(ours).toBeLessThan(Math.max(80, 2 * bare));
  });
});
