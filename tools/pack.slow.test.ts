import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packAll } from './pack.ts';

const root = dirname(import.meta.dirname);

type Ended = { status: number | null; stdout: string; stderr: string };

function run(command: string, args: readonly string[], cwd: string): Ended {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  return { status, stdout, stderr };
}

function mustRun(command: string, args: readonly string[], cwd: string): string {
  const ended = run(command, args, cwd);
  if (ended.status !== 0) throw new Error(`${command} ${args.join(' ')}: ${ended.status}\n${ended.stdout}${ended.stderr}`);
  return ended.stdout;
}

/** A Node of the given major version, from the registry's package of its binary. */
function fetchNode(major: number, folder: string): string {
  const name = `node-${process.platform}-${process.arch}`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  mustRun('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', `${name}@${major}`], folder);
  return join(folder, 'node_modules', name, 'bin', 'node');
}

const LIBRARY_USE = `
import { version } from '@orrery/protocol/version';
import * as protocol from '@orrery/protocol';
import * as client from '@orrery/client';
console.log(JSON.stringify({ version, protocol: Object.keys(protocol).length > 0, client: Object.keys(client).length > 0 }));
`;

const TYPED_USE = `
import { version } from '@orrery/protocol/version';
import { OrreryError } from '@orrery/protocol/errors';
export const text: string = version;
// @ts-expect-error a version is text: this fails to compile when the declarations are not found
export const wrong: number = version;
export const caught = (error: unknown): string => (error instanceof OrreryError ? error.code : '');
`;

describe('a stranger who installs what we publish', () => {
  let temp = '';
  let project = '';
  let node20 = '';

  beforeAll(() => {
    temp = mkdtempSync(join(tmpdir(), 'orrery-stranger-'));
    project = join(temp, 'project');
    mkdirSync(project);
    const tarballs = packAll(temp);
    writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'stranger', private: true, type: 'module' }));
    mustRun('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...tarballs.values()], project);
    writeFileSync(join(project, 'use.js'), LIBRARY_USE);
    writeFileSync(join(project, 'typed.ts'), TYPED_USE);
    node20 = fetchNode(20, join(temp, 'node20'));
  }, 240_000);

  afterAll(() => {
    if (temp !== '') rmSync(temp, { recursive: true, force: true });
  });

  const loaded = `${JSON.stringify({ version: '0.1.0', protocol: true, client: true })}\n`;

  it('imports protocol and client on the Node of this repository', () => {
    expect(run(process.execPath, ['use.js'], project)).toEqual({ status: 0, stdout: loaded, stderr: '' });
  });

  it('imports protocol and client on Node 20, which both promise', () => {
    expect(run(node20, ['--version'], project).stdout).toMatch(/^v20\./);
    expect(run(node20, ['use.js'], project)).toEqual({ status: 0, stdout: loaded, stderr: '' });
  });

  it('finds the types without any setting', () => {
    const tsc = join(root, 'node_modules', '.bin', 'tsc');
    expect(run(tsc, ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', 'typed.ts'], project)).toEqual({
      status: 0,
      stdout: '',
      stderr: '',
    });
  });

  it('has the orrery command', () => {
    expect(run(join(project, 'node_modules', '.bin', 'orrery'), ['--version'], project)).toEqual({
      status: 0,
      stdout: '0.1.0\n',
      stderr: '',
    });
  });

  it('needs no compiler: the keeper and the program of the self-test are there and start', () => {
    const native = join(project, 'node_modules', '@orrery', 'node', 'native', 'prebuilt');
    const program = (name: string): string => join(native, `${name}-${process.platform}-${process.arch}`);
    expect(run(program('orrery-keeper'), ['version'], project).stdout).toMatch(/^\S+/);
    const tried = join(project, 'node_modules', '.bin', 'orrery');
    const answer = run(tried, ['selftest', 'sandbox'], project);
    expect([answer.status, answer.stdout]).toEqual([0, expect.stringMatching(/✓ secret-read +denied/)]);
    expect(accessSync(program('orrery-escape'), constants.X_OK)).toBe(undefined);
  }, 60_000);

  it('gets nothing that belongs to tests', () => {
    expect(existsSync(join(project, 'node_modules', '@orrery', 'testkit'))).toBe(false);
    const tests = mustRun('find', ['node_modules/@orrery', '-name', '*.test.*', '-o', '-name', 'fixtures'], project);
    expect(tests).toBe('');
  });
});
