import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { builtinHarnesses } from '../packages/node/src/harness/registry.ts';
import { version } from '../packages/protocol/src/version.ts';
import { PINS } from './agent-programs.ts';

const root = dirname(import.meta.dirname);
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const manifestOf = (path: string): { name?: string; version?: string; dependencies?: Record<string, string> } =>
  JSON.parse(read(path));
const manifests = ['package.json', ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}/package.json`)];
const pinned = builtinHarnesses.flatMap(({ id, pin }) => (pin === null ? [] : [{ id, pin }]));

describe('what is pinned in more than one place', () => {
  it('the programs that suites and images are made with are those of the harnesses', () => {
    expect(Object.fromEntries(pinned.map(({ id, pin }) => [id, pin]))).toEqual(PINS);
  });

  it.each(pinned)('the packages of $id are of its one version, with a hash, and hold its executable', ({ pin }) => {
    const platforms = Object.keys(pin.executable);
    for (const { name, version: exact, platforms: made, integrity } of pin.packages) {
      if (name === pin.packages[0]?.name) expect(exact).toContain(pin.version);
      expect(exact).toMatch(/^(npm:@?[\w./-]+@)?\d+\.\d+\.\d+/);
      expect(integrity).toMatch(/^sha512-[\w+/]{86}==$/);
      expect(platforms).toEqual(expect.arrayContaining([...made]));
    }
    for (const [platform, path] of Object.entries(pin.executable)) {
      const there = pin.packages.filter(({ platforms: made }) => made.includes(platform));
      expect(there.some(({ name }) => path.startsWith(`node_modules/${name}/`))).toBe(true);
    }
  });

  it('every package, the protocol and the image are of one version', () => {
    const versions = manifests.map((path) => [path, manifestOf(path).version]);
    expect(versions).toEqual(manifests.map((path) => [path, version]));
    expect(/^ARG ORRERY_VERSION=(.*)$/m.exec(read('docker/Dockerfile'))?.[1]).toBe(version);
  });

  it('what packages need is pinned exactly, and each library once', () => {
    const wanted = manifests.flatMap((path) => Object.entries(manifestOf(path).dependencies ?? {}));
    for (const [, exact] of wanted) expect(exact).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/);
    const twice = wanted.filter(([name, exact]) => wanted.some(([other, its]) => other === name && its !== exact));
    expect(twice).toEqual([]);
    const locked: { packages: Record<string, { version?: string }> } = JSON.parse(read('package-lock.json'));
    // A package's own copy is the one it loads; else it is the one of all.
    for (const path of manifests)
      for (const [name, exact] of Object.entries(manifestOf(path).dependencies ?? {})) {
        const places = [path.replace(/package\.json$/, `node_modules/${name}`), `node_modules/${name}`];
        const found = places.map((place) => locked.packages[place]?.version).find((one) => one !== undefined);
        if (!name.startsWith('@orrery/')) expect([name, found]).toEqual([name, exact]);
      }
  });

  it('the image has the major version of Node that everything is run with', () => {
    const image = /^ARG NODE_IMAGE=node:(\d+)\./m.exec(read('docker/Dockerfile'))?.[1];
    expect(read('tools/with-node.mjs')).toContain(`node${image}`);
  });
});
