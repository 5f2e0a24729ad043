import { describe, expect, it } from 'vitest';
import { sampleEnvironment, sampleRender, sampleRun } from '../../../test/exec/sample-specs.ts';
import { renderBubblewrap } from './render.ts';

const plain = { program: '/usr/bin/bwrap', root: true, toolPaths: [], unixSockets: false };
const present = ['/usr', '/bin', '/etc/hosts', '/etc/resolv.conf', '/dev/null', '/dev/tty', '/proc', '/tools'];
const little = { exists: (path: string) => path.startsWith('/w') || present.includes(path), real: (path: string) => path };

const head = (root: boolean): string[] => [
  '/usr/bin/bwrap',
  ...(root ? [] : ['--unshare-user']),
  ...'--unshare-pid --unshare-ipc --unshare-uts --unshare-net --unshare-cgroup-try'.split(' '),
  ...'--as-pid-1 --die-with-parent --new-session --cap-drop ALL'.split(' '),
  ...(root ? ['--cap-add', 'CAP_SETPCAP'] : []),
  ...'--proc /proc --ro-bind /proc/sys /proc/sys --ro-bind-try /proc/sysrq-trigger /proc/sysrq-trigger'.split(' '),
  ...'--ro-bind-try /proc/irq /proc/irq --ro-bind-try /proc/bus /proc/bus --ro-bind-try /proc/fs /proc/fs'.split(' '),
  ...'--dev /dev --size 1073741824 --perms 1777 --tmpfs /dev/shm'.split(' '),
];
const tail = '--remount-ro /dev --remount-ro / -- /proc/self/fd/100 inside'.split(' ');

describe('what bubblewrap is told', () => {
  it.each([true, false])('is a file system of the grants alone, without a resolver (root: %s)', (root) => {
    const { confinement } = renderBubblewrap(sampleRender({ disk: little }), { ...plain, root, toolPaths: ['/tools'] });
    const binds = '--ro-bind /bin /bin --ro-bind /tools /tools --ro-bind /usr /usr --ro-bind /etc/hosts /etc/hosts';
    const own = '--bind /w/checkout /w/checkout --bind /w/home /w/home --bind /w/tmp /w/tmp';
    expect(confinement).toEqual({
      files: [
        { path: '/usr', access: 'rox' },
        { path: '/bin', access: 'rox' },
        { path: '/etc/hosts', access: 'ro' },
        { path: '/dev/null', access: 'rw' },
        { path: '/dev/tty', access: 'rw' },
        { path: '/proc', access: 'ro' },
        { path: '/tools', access: 'rox' },
        { path: '/w/checkout', access: 'rwx' },
        { path: '/w/home', access: 'rwx' },
        { path: '/w/tmp', access: 'rwx' },
      ],
      readOnly: [],
      network: 'none',
      processes: true,
      unixSockets: false,
      wrapper: [...head(root), ...`${binds} ${own}`.split(' '), ...tail],
    });
  });

  it('puts the operator’s tool folders first in PATH', () => {
    const { env } = renderBubblewrap(sampleRender(), { ...plain, toolPaths: ['/tools'] });
    expect(env.PATH!.split(':')[0]).toBe('/tools/bin');
  });

  it('holds nothing of the node and no value of the environment', () => {
    const run = sampleRun({ env: { MY_TOKEN: 'canary-token' } });
    const { confinement } = renderBubblewrap(sampleRender({ run }), plain);
    expect(confinement!.wrapper!.join(' ')).not.toMatch(/canary|\/d\b|broker/);
  });

  it('a grant around the data directory is refused, whoever asks for it', () => {
    const run = sampleRun({
      grants: [{ path: '/', access: 'ro', scope: 'absolute', provenance: 'environment', required: true }],
    });
    expect(() => renderBubblewrap(sampleRender({ run }), plain)).toThrow(expect.objectContaining({ code: 'path_refused' }));
  });

  it('closes paths of the checkout after everything else, with the folders above them held in place', () => {
    const environment = sampleEnvironment({ readOnly: ['/w/checkout/.git/hooks', '/w/checkout/.orrery', '/elsewhere'] });
    const { confinement } = renderBubblewrap(sampleRender({ environment, disk: little }), plain);
    const words = confinement!.wrapper!.join(' ');
    expect(confinement!.readOnly).toEqual(['/w/checkout/.orrery', '/w/checkout/.git/hooks']);
    expect(words).toContain(
      '--bind /w/checkout/.git /w/checkout/.git --ro-bind /w/checkout/.orrery /w/checkout/.orrery --ro-bind /w/checkout/.git/hooks /w/checkout/.git/hooks --remount-ro',
    );
  });
});
