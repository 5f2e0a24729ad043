import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PUBLISHED, publishedManifest } from './pack.ts';
import type { Manifest } from './pack.ts';

const versions = new Map([
  ['@orrery/protocol', '0.1.0'],
  ['@orrery/client', '0.1.0'],
  ['@orrery/node', '0.1.0'],
]);

const cli: Manifest = {
  name: '@orrery/cli',
  version: '0.1.0',
  engines: { node: '>=22.18' },
  exports: { '.': './src/main.ts', './package.json': './package.json' },
  dependencies: { '@orrery/client': '0.1.0', commander: '15.1.0' },
};

describe('a published manifest', () => {
  it('points at what was emitted, promises its Node and names its command', () => {
    expect(publishedManifest({ ...cli, devDependencies: { '@orrery/testkit': '0.1.0' } }, { name: 'cli', versions })).toEqual({
      ...cli,
      exports: { '.': { types: './dist/main.d.ts', default: './dist/main.js' }, './package.json': './package.json' },
      bin: { orrery: 'dist/main.js' },
      dependencies: { ...cli.dependencies, '@orrery/node': '0.1.0' },
      files: ['dist', 'src', 'native', 'web'],
    });
  });

  it('promises Node 20 where a stranger needs only that', () => {
    const manifest = { name: '@orrery/client', version: '0.1.0', exports: { '.': './src/index.ts' } };
    expect(publishedManifest(manifest, { name: 'client', versions })).toMatchObject({ engines: { node: '>=20' } });
  });

  it.each([
    ['another version of ours', { '@orrery/client': '0.2.0' }, 'but 0.1.0 is published'],
    ['a package of ours that is not published', { '@orrery/testkit': '0.1.0' }, 'but nothing of that name is published'],
    ['a range', { commander: '^15.1.0' }, 'pin one exact version'],
  ])('refuses %s', (_what, dependencies, message) => {
    expect(() => publishedManifest({ ...cli, dependencies }, { name: 'cli', versions })).toThrow(message);
  });

  it('is never made of the test kit', () => {
    expect(Object.keys(PUBLISHED)).not.toContain('testkit');
    expect(() =>
      publishedManifest({ name: '@orrery/testkit', version: '0.1.0', exports: {} }, { name: 'testkit', versions }),
    ).toThrow('testkit is not published');
  });

  it('has one version over all packages and the version that programs report', async () => {
    const { version } = await import('@orrery/protocol/version');
    const found = Object.keys(PUBLISHED).map(
      (name) => JSON.parse(readFileSync(new URL(`../packages/${name}/package.json`, import.meta.url), 'utf8')).version,
    );
    expect(new Set(found)).toEqual(new Set([version]));
  });
});
