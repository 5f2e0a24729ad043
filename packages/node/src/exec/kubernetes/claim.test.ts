import type { V1PersistentVolumeClaim } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { claimManifest, fits, givenBack, heldBy, holderOf, keepsFiles, outlived } from './claim.ts';
import { kubernetesOptions } from './options.ts';

const DAY_MS = 86_400_000;
const ask = { environmentId: 'env_01', taskId: 'tsk_01', project: 'prj_1', keeps: false };
const options = (volume: Record<string, unknown> = {}) => kubernetesOptions.parse({ workspace: 'volume', volume });
const made = (volume: Record<string, unknown> = {}, given: Partial<typeof ask> = {}): V1PersistentVolumeClaim =>
  claimManifest({ ...ask, ...given }, { options: options(volume), instance: 'node-a' });
const free = (name: string, ageDays: number): V1PersistentVolumeClaim => {
  const back = givenBack(made({ reuse: 'project' }), -ageDays * DAY_MS);
  return { ...back, metadata: { ...back.metadata, name } };
};

describe('a claim', () => {
  it('asks for what the options say, and says whose it is', () => {
    expect(made({ storageClass: 'fast', size: '5Gi', accessMode: 'ReadWriteMany' }, { keeps: true })).toEqual({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        generateName: 'orrery-',
        namespace: 'default',
        labels: {
          'app.kubernetes.io/managed-by': 'orrery',
          'orrery.dev/instance': 'node-a',
          'orrery.dev/environment': expect.stringMatching(/^[0-9a-f]{20}$/) as string,
        },
        annotations: {
          'orrery.dev/environment-id': 'env_01',
          'orrery.dev/task-id': 'tsk_01',
          'orrery.dev/keeps': 'true',
        },
      },
      spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '5Gi' } }, storageClassName: 'fast' },
    });
  });

  it('names no class where the default one is meant, and no project where it is not used again', () => {
    const claim = made();
    expect([claim.spec?.storageClassName, Object.keys(claim.metadata?.labels ?? {})]).toEqual([
      undefined,
      ['app.kubernetes.io/managed-by', 'orrery.dev/instance', 'orrery.dev/environment'],
    ]);
    expect(made({ reuse: 'project' }).metadata?.labels?.['orrery.dev/project']).toMatch(/^[0-9a-f]{20}$/);
  });

  it('has one holder, and nothing of the one before; what the cluster noted on it stays', () => {
    const noted = made({ reuse: 'project' }, { keeps: true });
    const first = { ...noted, metadata: { ...noted.metadata, annotations: { ...noted.metadata?.annotations, 'pv/x': 'y' } } };
    const back = givenBack(first, 0);
    expect([holderOf(first), keepsFiles(first), holderOf(back), keepsFiles(back)]).toEqual(['env_01', true, null, false]);
    expect(back.metadata?.labels?.['orrery.dev/environment']).toBeUndefined();
    const next = heldBy(back, { ...ask, environmentId: 'env_02', taskId: 'tsk_02' });
    expect(next.metadata?.annotations).toEqual({
      'pv/x': 'y',
      'orrery.dev/environment-id': 'env_02',
      'orrery.dev/task-id': 'tsk_02',
    });
  });

  it('fits only when it is bound and what the options ask for', () => {
    const bound = { ...made({ storageClass: 'fast' }), status: { phase: 'Bound' } };
    expect([
      fits(bound, options({ storageClass: 'fast' })),
      fits(bound, options()),
      fits(bound, options({ storageClass: 'slow' })),
      fits(bound, options({ size: '1Gi' })),
      fits({ ...bound, status: { phase: 'Pending' } }, options()),
    ]).toEqual([true, true, false, false, false]);
  });

  it('that nobody holds is kept for its days, and a project has its number of them, the newest', () => {
    const claims = [free('new', 0), free('older', 1), free('oldest', 3), made({ reuse: 'project' })];
    const going = (volume: Record<string, unknown>) => outlived(claims, options(volume), 0).map(({ metadata }) => metadata?.name);
    expect([going({ keepNumber: 9 }), going({ keepNumber: 1 }), going({ keepDays: 2 }), going({ keepNumber: 0 })]).toEqual([
      [],
      ['older', 'oldest'],
      ['oldest'],
      ['new', 'older', 'oldest'],
    ]);
  });
});
