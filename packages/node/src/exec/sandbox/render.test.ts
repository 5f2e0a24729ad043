import { describe, expect, it } from 'vitest';
import { sampleEnvironment, sampleRender, sampleRun } from '../../../test/exec/sample-specs.ts';
import { renderSandbox } from './render.ts';

const plain = { toolPaths: [], unixSockets: false };
const onlyOwn = {
  exists: (path: string) => path.startsWith('/w') || path === '/usr' || path === '/etc/hosts' || path === '/tools',
  real: (path: string) => path,
};

const expectedRules = [
  { path: '/usr', access: 'rox' },
  { path: '/etc/hosts', access: 'ro' },
  { path: '/tools', access: 'rox' },
  { path: '/w/checkout', access: 'rwx' },
  { path: '/w/home', access: 'rwx' },
  { path: '/w/tmp', access: 'rwx' },
];

describe('what the sandbox tells a keeper', () => {
  it('is the whole spec: the system, the environment, no network, own processes, the narrower limits', () => {
    const environment = sampleEnvironment({
      readOnly: ['/w/checkout/.git/hooks'],
      required: ['files'],
      limits: { wallMs: 5000, memoryBytes: 100, processes: 9, outputBytes: 1_000_000 },
    });
    const run = sampleRun({ limits: { wallMs: 10_000, memoryBytes: 50, diskBytes: 7, outputBytes: 400 } });
    expect(
      renderSandbox(sampleRender({ environment, run, disk: onlyOwn }), { toolPaths: ['/tools'], unixSockets: true }),
    ).toEqual({
      command: 'sh',
      args: ['-c', 'true'],
      cwd: '/w/checkout',
      env: expect.objectContaining({
        HOME: '/w/home',
        TMPDIR: '/w/tmp',
        PATH: expect.stringMatching(/^\/tools:\/usr\/local\/sbin:/),
      }),
      stdio: 'piped',
      confinement: {
        files: expectedRules,
        readOnly: ['/w/checkout/.git/hooks'],
        network: 'none',
        processes: true,
        unixSockets: true,
      },
      limits: {
        wallMs: 5000,
        cpuSeconds: undefined,
        memoryBytes: 50,
        processes: 9,
        fileBytes: 7,
        outputBytes: 400,
        spoolWindowBytes: 64 * 1024 * 1024,
      },
      front: { port: 7777, target: '/d/broker.sock', holdMs: 1000, holdMax: 8 },
      required: ['files'],
      goTimeoutMs: 30_000,
      releaseTimeoutMs: 600_000,
    });
  });

  it('grants no directory of others: not /, /etc, /home, /root, /tmp, /var, /run, /dev, /sys, and no secret of /etc', () => {
    const paths = renderSandbox(sampleRender(), plain).confinement?.files.map(({ path }) => path) ?? [];
    const never = [
      '/',
      '/etc',
      '/home',
      '/root',
      '/tmp',
      '/var',
      '/run',
      '/dev',
      '/dev/pts',
      '/dev/shm',
      '/sys',
      '/mnt',
      '/etc/shadow',
      '/etc/ssl',
      '/etc/ssl/private',
      '/etc/ssh',
      '/etc/sudoers',
    ];
    expect(paths.filter((path) => never.includes(path))).toEqual([]);
    expect(paths.filter((path) => /shadow|sudoers|private|ssh/.test(path))).toEqual([]);
  });

  it('a grant around the data directory is refused, whoever asks for it', () => {
    const run = sampleRun({
      grants: [{ path: '/', access: 'ro', scope: 'absolute', provenance: 'environment', required: true }],
    });
    expect(() => renderSandbox(sampleRender({ run }), plain)).toThrow(expect.objectContaining({ code: 'path_refused' }));
  });

  it('nothing of the node is in the environment of the program', () => {
    expect(JSON.stringify(renderSandbox(sampleRender(), plain))).not.toContain('canary');
  });
});
