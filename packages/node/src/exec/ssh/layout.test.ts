import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  cacheOf,
  environmentIn,
  environmentsOf,
  FORGET,
  installationOf,
  keeperOf,
  LINK,
  LIST,
  LOOK,
  MAKE,
  REMOVE,
  rootOf,
  socketsOf,
} from './layout.ts';

let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "orrery ssh's "));
});
afterEach(() => {
  rmSync(home, { recursive: true, force: true });
});

const make = (root: string) => {
  run(MAKE, root);
  return run(LINK, '/bin/true', keeperOf(root));
};

const run = (text: string, ...parameters: string[]) => {
  const { stdout, status } = spawnSync('sh', ['-c', text, 'sh', ...parameters], { encoding: 'utf8' });
  return { stdout: stdout.trim(), status };
};

describe('the folders of a host', () => {
  it('have names that cannot lead out', () => {
    for (const name of ['..', '.', '', 'a/b', '-rf', 'a b', '$(x)', 'a\n'])
      expect(() => rootOf('/h', 'i', name)).toThrow(expect.objectContaining({ code: 'invalid_input' }));
    expect([environmentIn('env-1'), environmentIn('..'), environmentIn('')]).toEqual(['env-1', null, null]);
  });

  it('are made for nobody else, found, listed and removed, with what is empty above them', () => {
    const root = rootOf(home, 'one', 'env-1');
    const other = rootOf(home, 'two', 'env-1');
    for (const path of [root, root, other]) expect(make(path).status).toBe(0);
    expect((statSync(root).mode & 0o777).toString(8)).toBe('700');
    expect(run(LOOK, root, home).stdout).toBe('there');
    expect(run(LIST, installationOf(home, 'one')).stdout).toBe('env-1');
    mkdirSync(join(root, 'locked/in'), { recursive: true });
    writeFileSync(join(root, 'locked/in/file'), '');
    spawnSync('chmod', ['-R', 'a-rwx', join(root, 'locked')]);
    expect(run(REMOVE, root, '/no/keeper', environmentsOf(home), socketsOf(home)).status).toBe(0);
    expect(readdirSync(environmentsOf(home))).toEqual(['two']);
    expect(run(LOOK, root, home).stdout).toBe('gone');
    expect(run(LIST, installationOf(home, 'one'))).toEqual({ stdout: '', status: 0 });
    expect(run(REMOVE, root, '/no/keeper', environmentsOf(home), socketsOf(home)).status).toBe(0);
    run(REMOVE, other, '/no/keeper', environmentsOf(home), socketsOf(home));
    expect(existsSync(join(home, '.local/share/orrery'))).toBe(false);
  });

  it('whose home is not there cannot be told', () => {
    expect(run(LOOK, rootOf(`${home}/away`, 'one', 'env-1'), `${home}/away`).stdout).toBe('unknown');
  });

  it('stay when what runs in them could not be ended', () => {
    const root = rootOf(home, 'one', 'env-1');
    mkdirSync(join(root, 'runs'), { recursive: true });
    expect(run(REMOVE, root, '/bin/false', environmentsOf(home), socketsOf(home)).status).toBe(5);
    expect(existsSync(root)).toBe(true);
  });

  it('the keeper programs go with the last environment of anybody', () => {
    const cache = cacheOf(home);
    mkdirSync(cache, { recursive: true });
    make(rootOf(home, 'two', 'env-1'));
    run(FORGET, environmentsOf(home), cache);
    expect(existsSync(cache)).toBe(true);
    run(REMOVE, rootOf(home, 'two', 'env-1'), '/no/keeper', environmentsOf(home), socketsOf(home));
    run(FORGET, environmentsOf(home), cache);
    expect(existsSync(cache)).toBe(false);
  });
});
