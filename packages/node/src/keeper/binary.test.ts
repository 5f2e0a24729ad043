import { describe, expect, it } from 'vitest';
import { findEscapeBinary, findKeeperBinary } from './binary.ts';

const machine = { native: '/n', platform: 'linux', arch: 'arm64' };
const only = (path: string) => (asked: string) => asked === path;

describe('where the keeper program is', () => {
  it('what was built here comes before what is shipped', () => {
    expect(findKeeperBinary({ ...machine, isExecutable: () => true })).toBe('/n/build/orrery-keeper');
    expect(findKeeperBinary({ ...machine, isExecutable: only('/n/prebuilt/orrery-keeper-linux-arm64') })).toBe(
      '/n/prebuilt/orrery-keeper-linux-arm64',
    );
  });

  it('a named path is taken or refused, never replaced', () => {
    expect(findKeeperBinary({ ...machine, explicit: '/k', isExecutable: only('/k') })).toBe('/k');
    expect(() => findKeeperBinary({ ...machine, explicit: '/k', isExecutable: only('/n/build/orrery-keeper') })).toThrow('/k');
  });

  it('with none the error names the places and how to build it', () => {
    expect(() => findKeeperBinary({ ...machine, isExecutable: () => false })).toThrow(
      expect.objectContaining({
        code: 'backend_unavailable',
        details: { places: ['/n/build/orrery-keeper', '/n/prebuilt/orrery-keeper-linux-arm64'] },
      }),
    );
  });

  it('the program of the self-test is found in the same places', () => {
    expect(findEscapeBinary({ ...machine, isExecutable: () => true })).toBe('/n/build/escape');
    expect(findEscapeBinary({ ...machine, isExecutable: only('/n/prebuilt/orrery-escape-linux-arm64') })).toBe(
      '/n/prebuilt/orrery-escape-linux-arm64',
    );
    expect(() => findEscapeBinary({ ...machine, isExecutable: () => false })).toThrow(
      expect.objectContaining({
        code: 'backend_unavailable',
        details: { places: ['/n/build/escape', '/n/prebuilt/orrery-escape-linux-arm64'] },
      }),
    );
  });
});
