import { describe, expect, it } from 'vitest';
import type { PathGrant } from './backend.ts';
import { resolveGrants } from './grants.ts';

const grant = (over: Partial<PathGrant>): PathGrant => ({
  path: '/x',
  access: 'ro',
  scope: 'absolute',
  provenance: 'orrery',
  required: true,
  ...over,
});
const around = {
  home: '/h',
  fence: { notAround: ['/d'], notInside: '/d/exec', except: '/d/exec/e/provided' },
  disk: { exists: (path: string) => !path.includes('missing'), real: (path: string) => (path === '/link' ? '/' : path) },
};

describe('grants as rules', () => {
  it('a path that is granted twice is granted once with both accesses', () => {
    expect(
      resolveGrants([grant({ access: 'rox' }), grant({ path: '/y' }), grant({ path: '/x/', access: 'rw' })], around),
    ).toEqual([
      { path: '/x', access: 'rwx' },
      { path: '/y', access: 'ro' },
    ]);
  });

  it('home grants are below the home of the environment and stay there', () => {
    expect(resolveGrants([grant({ scope: 'home', path: '.agent' })], around)).toEqual([{ path: '/h/.agent', access: 'ro' }]);
    expect(() => resolveGrants([grant({ scope: 'home', path: '../d/secret' })], around)).toThrow(
      expect.objectContaining({ code: 'path_refused' }),
    );
    expect(() => resolveGrants([grant({ path: 'relative' })], around)).toThrow(expect.objectContaining({ code: 'path_refused' }));
  });

  it('a missing required path is an error, a missing optional one is left out', () => {
    expect(resolveGrants([grant({ path: '/missing', required: false })], around)).toEqual([]);
    expect(() => resolveGrants([grant({ path: '/missing' })], around)).toThrow(
      expect.objectContaining({ code: 'not_found', details: { path: '/missing' } }),
    );
  });

  it.each(['/', '/d', '/link', '/d/exec', '/d/exec/e/runs/r1'])(
    '%s would hand out a directory of the node and is refused',
    (path) => {
      expect(() => resolveGrants([grant({ path })], around)).toThrow(expect.objectContaining({ code: 'path_refused' }));
    },
  );

  it('inside the data directory a checkout and a carried-in file can be granted', () => {
    expect(resolveGrants([grant({ path: '/d/checkouts/c' }), grant({ path: '/d/exec/e/provided/token' })], around)).toHaveLength(
      2,
    );
  });
});
