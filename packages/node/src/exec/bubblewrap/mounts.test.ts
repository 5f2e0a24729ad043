import { describe, expect, it } from 'vitest';
import type { PathAccess } from '../../keeper/types.ts';
import type { Disk } from '../grants.ts';
import { planMounts } from './mounts.ts';

/** A disk where everything is there but `missing`, and each path of `links` leads elsewhere. */
const disk = ({ links = {}, missing = [] }: { links?: Record<string, string>; missing?: readonly string[] } = {}): Disk => ({
  exists: (path) => !missing.some((one) => path === one || path.startsWith(`${one}/`)),
  real: (path) => {
    const link = Object.keys(links).find((one) => path === one || path.startsWith(`${one}/`));
    return link === undefined ? path : `${links[link]}${path.slice(link.length)}`;
  },
});

const rules = (...list: readonly (readonly [PathAccess, string])[]) => list.map(([access, path]) => ({ access, path }));
const shown = (list: Parameters<typeof planMounts>[0], readOnly: readonly string[], on: Disk): string[] =>
  planMounts(list, readOnly, on).mounts.map(
    ({ path, write, device }) => `${device ? 'device' : write ? 'write' : 'read'} ${path}`,
  );

describe('the mounts of a run', () => {
  it('come parents first, once for what a mount around them shows already', () => {
    const list = rules(['rwx', '/a/b/out'], ['ro', '/a/b'], ['rox', '/a/b/bin'], ['rw', '/z'], ['ro', '/z/in']);
    expect(shown(list, [], disk())).toEqual(['write /z', 'read /a/b', 'write /a/b/out']);
  });

  it('show a link’s target where a program looks for it: at its own place, or where the link leads', () => {
    const links = { '/bin': '/usr/bin', '/opt/tool': '/srv/tool' };
    const list = rules(['rox', '/usr'], ['rox', '/bin'], ['ro', '/opt'], ['ro', '/opt/tool']);
    expect(shown(list, [], disk({ links }))).toEqual(['read /bin', 'read /opt', 'read /usr', 'read /srv/tool']);
  });

  it('leave out what bubblewrap makes itself; another device is bound as one', () => {
    expect(shown(rules(['rw', '/dev/null'], ['ro', '/proc'], ['rw', '/dev/kvm']), [], disk())).toEqual(['device /dev/kvm']);
  });

  it('close a path in a writable folder and hold what is above it; a path of no writable folder needs nothing', () => {
    const list = rules(['rwx', '/w'], ['ro', '/r']);
    expect(planMounts(list, ['/w/a/b/c', '/w/a/x', '/r/a', '/no'], disk({ missing: ['/w/a'] }))).toEqual({
      closed: ['/w/a/x', '/w/a/b/c'],
      mounts: [
        { path: '/r', write: false, device: false },
        { path: '/w', write: true, device: false },
        { path: '/w/a', write: true, device: false },
        { path: '/w/a/b', write: true, device: false },
        { path: '/w/a/x', write: false, device: false },
        { path: '/w/a/b/c', write: false, device: false },
      ],
    });
  });

  it('what lies in a closed path is closed with it, also where a grant said otherwise', () => {
    const list = rules(['rwx', '/w'], ['rwx', '/w/.orrery/memory']);
    expect(shown(list, ['/w/.orrery', '/w/.orrery/memory/x'], disk())).toEqual([
      'write /w',
      'read /w/.orrery',
      'read /w/.orrery/memory/x',
    ]);
  });

  it('close a link’s target within the folder, and follow no link out of it, also not for what is not there yet', () => {
    const links = { '/w/.claude': '/w/.agents', '/w/.vscode': '/etc' };
    const readOnly = ['/w/.claude/settings.json', '/w/.vscode/settings.json', '/w/.vscode/new'];
    const on = disk({ links, missing: ['/w/.vscode/new'] });
    expect(planMounts(rules(['rwx', '/w']), readOnly, on).closed).toEqual(['/w/.agents/settings.json']);
  });
});
