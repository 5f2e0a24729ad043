import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { samplePlace } from '../../../test/docker/samples.ts';
import type { Place } from '../remote/place.ts';
import { mountableHere, proveBound } from './bound.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-bound-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A place where everything that is read has this content. */
const placeThatSays = (said: string): Place =>
  ({
    mounted: [{ local: folder, inside: folder }],
    exec: async () => {
      const stdio = new PassThrough();
      stdio.end(said);
      return { stdio, stderr: () => '', ended: Promise.resolve({ exitCode: 0 }), close: () => undefined };
    },
  }) as unknown as Place;

describe('directories of this machine in a container', () => {
  const spec = () => samplePlace({ mountable: [{ local: folder, readOnly: false }] });

  it('that are those of another machine are found out, and nothing of the look stays', async () => {
    for (const said of ['', 'another word']) {
      const looking = proveBound(placeThatSays(said), spec());
      await expect(looking).rejects.toMatchObject({
        code: 'backend_unavailable',
        fix: expect.stringContaining('copy') as unknown,
      });
    }
    expect(readdirSync(folder)).toEqual([]);
  });

  it('are asked for only as far as they are there', () => {
    const missing = { local: join(folder, 'missing'), readOnly: true };
    expect(mountableHere({ ...spec(), mountable: [...spec().mountable, missing] }).mountable).toEqual(spec().mountable);
  });
});
