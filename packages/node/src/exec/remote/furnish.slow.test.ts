import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createFakePlaces } from '../../../test/remote/fake-place.ts';
import { findKeeperBinary } from '../../keeper/binary.ts';
import { architectureOf, furnish } from './furnish.ts';
import { layoutOf } from './layout.ts';

const directories: string[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

const newPlaces = () => {
  const directory = mkdtempSync(join(tmpdir(), 'orrery-places-'));
  directories.push(directory);
  return createFakePlaces(join(directory, 'places'));
};

const spec = {
  environmentId: 'env-1',
  taskId: 'task-1',
  installation: 'node-1',
  image: null,
  keeps: false,
  project: null,
  limits: {},
  mountable: [],
};

describe('a fresh place', () => {
  it('gets its folders, for nobody else, and a keeper program that runs; again is fine', async () => {
    const place = await newPlaces().create(spec, () => undefined);
    const furnishing = {
      program: () => findKeeperBinary(),
      paths: ['/usr', join(place.root, 'work'), join(place.root, 'nothing')],
    };
    await furnish(place, furnishing);
    const { present, guarantees } = await furnish(place, furnishing);
    const layout = layoutOf(place);
    expect([[...present], guarantees.length > 0]).toEqual([['/usr', layout.work], true]);
    expect([layout.work, layout.runs, layout.keeper].map((path) => (statSync(path).mode & 0o777).toString(8))).toEqual([
      '700',
      '700',
      '700',
    ]);
  });

  it('of a machine that no keeper program is for is refused', () => {
    expect([architectureOf('Linux x86_64\n'), architectureOf('Linux aarch64')]).toEqual(['x64', 'arm64']);
    expect(() => architectureOf('Linux riscv64')).toThrow(expect.objectContaining({ code: 'backend_unavailable' }));
  });
});
