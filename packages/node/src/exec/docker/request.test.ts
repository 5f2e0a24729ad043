import { describe, expect, it } from 'vitest';
import { sampleOptions, samplePlace } from '../../../test/docker/samples.ts';
import { containerName, renderCarrier, renderContainer } from './request.ts';

const image = { id: 'sha256:1', name: 'team/image:2' };
const labels = {
  'dev.orrery.installation': 'inst-1',
  'dev.orrery.environment': 'env-1',
  'dev.orrery.task': 'task-1',
  'dev.orrery.image': 'team/image:2',
};
const shared = {
  Type: 'volume',
  Source: 'orrery-inst-1-programs',
  Target: '/orrery-programs',
  ReadOnly: true,
  VolumeOptions: { NoCopy: true, Labels: { 'dev.orrery.installation': 'inst-1', 'dev.orrery.shared': 'programs' } },
};
const plain = {
  name: 'orrery-inst-1-env-1',
  Image: 'sha256:1',
  Entrypoint: ['sh', '-c', 'command -v sleep >/dev/null || exit 127; while :; do sleep 2147483647 & wait; done'],
  Cmd: [],
  User: '1000:1000',
  WorkingDir: '/',
  Hostname: 'orrery',
  Labels: labels,
  Healthcheck: { Test: ['NONE'] },
  Tty: false,
  OpenStdin: false,
  StopSignal: 'SIGKILL',
  HostConfig: {
    NetworkMode: 'none',
    AutoRemove: false,
    RestartPolicy: { Name: 'no', MaximumRetryCount: 0 },
    Privileged: false,
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges'],
    IpcMode: 'private',
    ReadonlyRootfs: false,
    Memory: 0,
    MemorySwap: 0,
    NanoCpus: 0,
    PidsLimit: 4160,
    ShmSize: 1073741824,
    Ulimits: [{ Name: 'core', Soft: 0, Hard: 0 }],
    Mounts: [shared],
    LogConfig: { Type: 'none', Config: {} },
  },
};

const files = { Name: 'nofile', Soft: 9, Hard: 9 };

const mount = (path: string, ReadOnly: boolean) => ({
  Type: 'bind',
  Source: path,
  Target: path,
  ReadOnly,
  BindOptions: { Propagation: 'rprivate' },
});

describe('the request that makes a container', () => {
  it('has walls on every side when nothing else was said', () => {
    expect(renderContainer({ spec: samplePlace(), options: sampleOptions(), image, user: '1000:1000', ulimits: [] })).toEqual(
      plain,
    );
  });

  it('carries every option and the smaller of two limits', () => {
    const options = sampleOptions({
      memoryBytes: 1e9,
      cpus: 1.5,
      processes: 500,
      readOnlyRoot: true,
      workspace: 'bind',
      toolPaths: ['/opt/tools'],
      runtime: 'runsc',
    });
    const spec = samplePlace({
      limits: { memoryBytes: 2e9, processes: 100 },
      mountable: [
        { local: '/w/checkout', readOnly: false },
        { local: '/w/memory', readOnly: true },
      ],
    });
    expect(renderContainer({ spec, options, image, user: 'agent', ulimits: [files] })).toEqual({
      ...plain,
      User: 'agent',
      HostConfig: {
        ...plain.HostConfig,
        ReadonlyRootfs: true,
        Tmpfs: { '/tmp': 'rw,nosuid,nodev,mode=1777' },
        Memory: 1e9,
        MemorySwap: 1e9,
        NanoCpus: 1_500_000_000,
        PidsLimit: 164,
        Ulimits: [...plain.HostConfig.Ulimits, files],
        Mounts: [
          shared,
          mount('/opt/tools', true),
          mount('/w/checkout', false),
          mount('/w/memory', true),
          { Type: 'volume', Target: '/orrery', ReadOnly: false, VolumeOptions: { Labels: labels } },
        ],
        Runtime: 'runsc',
      },
    });
  });

  it('mounts nothing of this machine when the checkout is copied', () => {
    const spec = samplePlace({ mountable: [{ local: '/w/checkout', readOnly: false }] });
    expect(renderContainer({ spec, options: sampleOptions(), image, user: '1:1', ulimits: [] }).HostConfig.Mounts).toEqual([
      shared,
    ]);
  });

  it('gives no container less memory than one can start with', () => {
    const spec = samplePlace({ limits: { memoryBytes: 1000 } });
    expect(renderContainer({ spec, options: sampleOptions(), image, user: '1:1', ulimits: [] }).HostConfig.Memory).toBe(
      16 * 1024 * 1024,
    );
  });

  it('names it with what an engine takes', () => {
    expect(containerName({ installation: 'a:b', environmentId: 'e/ü 1' })).toBe('orrery-a-b-e---1');
  });

  it('for what carries programs has the same walls, writes the shared volume alone, and ends by itself', () => {
    const { NetworkMode, Privileged, CapDrop, SecurityOpt, IpcMode, LogConfig } = plain.HostConfig;
    const walls = { NetworkMode, Privileged, CapDrop, SecurityOpt, IpcMode, LogConfig };
    const request = renderCarrier({ installation: 'inst-1', image: 'sha256:1', user: '1000:1000', name: 'carrier-1' });
    expect(request).toMatchObject({
      name: 'orrery-inst-1-carrier-1',
      User: '1000:1000',
      Entrypoint: ['sleep', '3600'],
      Labels: shared.VolumeOptions.Labels,
      HostConfig: { ...walls, AutoRemove: true, ReadonlyRootfs: true, Mounts: [{ ...shared, ReadOnly: false }] },
    });
  });
});
