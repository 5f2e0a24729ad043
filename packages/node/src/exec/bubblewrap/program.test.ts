import { describe, expect, it } from 'vitest';
import { findBubblewrap } from './program.ts';

describe('finding bwrap', () => {
  it('takes the operator’s path as it is, else the usual places, else PATH (absolute folders only)', () => {
    const only = (one: string) => (path: string) => path === one;
    expect(findBubblewrap({ named: '/my/own', path: '', isExecutable: () => true })).toBe('/my/own');
    expect(findBubblewrap({ named: null, path: '/nix/bin', isExecutable: () => true })).toBe('/usr/bin/bwrap');
    expect(findBubblewrap({ named: null, path: '.:/nix/bin', isExecutable: only('/nix/bin/bwrap') })).toBe('/nix/bin/bwrap');
  });

  it('says where it looked and how to get it', () => {
    expect(() => findBubblewrap({ named: null, path: 'bin:/x', isExecutable: () => false })).toThrow(
      expect.objectContaining({
        code: 'backend_unavailable',
        message: 'bwrap is not installed.',
        fix: expect.stringContaining('apt-get install bubblewrap'),
        details: { places: ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap', '/x/bwrap'] },
      }),
    );
    expect(() => findBubblewrap({ named: '/my/own', path: '/usr/bin', isExecutable: (path) => path !== '/my/own' })).toThrow(
      expect.objectContaining({ message: 'bwrap is not installed at /my/own.' }),
    );
  });
});
