import { describe, expect, it } from 'vitest';
import { sampleRender, sampleRun } from '../../../test/exec/sample-specs.ts';
import { renderLocal } from './render.ts';

describe('what local tells a keeper', () => {
  it('has no walls, and the limits and the broker of every backend', () => {
    const spec = renderLocal(sampleRender());
    expect([spec.confinement, spec.limits.wallMs, spec.front?.port]).toEqual([null, 10_000, 7777]);
  });

  it('a required grant that is missing is an error here too', () => {
    const run = sampleRun({ grants: [{ path: '/gone', access: 'ro', scope: 'absolute', provenance: 'orrery', required: true }] });
    const disk = { exists: (path: string) => path !== '/gone', real: (path: string) => path };
    expect(() => renderLocal(sampleRender({ run, disk }))).toThrow(expect.objectContaining({ code: 'not_found' }));
  });
});
