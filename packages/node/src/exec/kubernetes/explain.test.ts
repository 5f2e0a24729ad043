import type { CoreV1Event, V1Pod } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { endedByCluster, startupOf, stateOf } from './explain.ts';

type Status = NonNullable<V1Pod['status']>;
type Container = NonNullable<Status['containerStatuses']>[number];

const container = (given: Partial<Container>): Container => ({
  name: 'agent',
  image: 'agent:1',
  imageID: '',
  ready: false,
  restartCount: 0,
  ...given,
});
const pod = (status: Status): V1Pod => ({ metadata: { name: 'p', uid: 'u1' }, status });
const waiting = (reason: string, message = ''): V1Pod =>
  pod({ phase: 'Pending', containerStatuses: [container({ state: { waiting: { reason, message } } })] });
const terminated = (reason: string, exitCode: number): Container => container({ state: { terminated: { reason, exitCode } } });

describe('a pod that starts', () => {
  it('is ready when its container is', () => {
    expect(startupOf(pod({ phase: 'Running', containerStatuses: [container({ ready: true })] }), [])).toEqual({ state: 'ready' });
  });

  it('fails at once when its image cannot be had or its container not be made', () => {
    for (const reason of [
      'ErrImagePull',
      'ImagePullBackOff',
      'ErrImageNeverPull',
      'InvalidImageName',
      'CreateContainerConfigError',
    ])
      expect(startupOf(waiting(reason, 'no such image'), [])).toEqual({ state: 'failed', why: `${reason}: no such image` });
  });

  it('waits while it is scheduled, and says what for', () => {
    const conditions = [
      { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes: insufficient memory' },
    ];
    expect(startupOf(pod({ phase: 'Pending', conditions }), [])).toEqual({
      state: 'starting',
      why: 'Unschedulable: 0/3 nodes: insufficient memory',
    });
    const event = { type: 'Warning', message: 'volume is not there' } as CoreV1Event;
    expect(startupOf(waiting('ContainerCreating'), [event])).toEqual({
      state: 'starting',
      why: 'ContainerCreating: volume is not there',
    });
  });

  it('that was evicted, ran out of memory or of time has failed', () => {
    expect(startupOf(pod({ phase: 'Failed', reason: 'Evicted', message: 'low on disk' }), [])).toEqual({
      state: 'failed',
      why: 'Evicted: low on disk',
    });
    expect(startupOf(pod({ phase: 'Running', containerStatuses: [terminated('OOMKilled', 137)] }), [])).toEqual({
      state: 'failed',
      why: 'OOMKilled: it used more memory than its limit',
    });
    expect(stateOf(pod({ phase: 'Failed', reason: 'DeadlineExceeded' }), 'u1')).toEqual({
      state: 'gone',
      why: 'DeadlineExceeded: the pod was older than deadlineSeconds',
    });
  });
});

describe('whether a pod is there', () => {
  it('is told by its uid, not by its name', () => {
    const running = pod({ phase: 'Running', containerStatuses: [container({ ready: true })] });
    expect([stateOf(running, 'u1').state, stateOf(running, 'u2').state, stateOf(null, 'u1').state]).toEqual([
      'running',
      'gone',
      'gone',
    ]);
  });

  it('why it ended is said, and nothing is guessed', () => {
    expect(endedByCluster(null)).toBe('The pod ended: it was deleted, as evictions, drained machines and people do.');
    const deleted = (status: Status): V1Pod => ({
      metadata: { name: 'p', uid: 'u1', deletionTimestamp: new Date(0) },
      status: { containerStatuses: [terminated('Error', 137)], ...status },
    });
    expect(endedByCluster(deleted({}))).toBe('The pod ended: it was deleted, as evictions, drained machines and people do.');
    const message = 'Eviction API: evicting';
    const conditions = [{ type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI', message }];
    expect(endedByCluster(deleted({ conditions }))).toBe('The pod ended: EvictionByEvictionAPI: Eviction API: evicting.');
    expect(endedByCluster(deleted({ reason: 'Evicted', message: 'low on disk' }))).toBe('The pod ended: Evicted: low on disk.');
    expect(endedByCluster(pod({ phase: 'Running' }))).toBeNull();
    expect(endedByCluster(pod({ phase: 'Failed', reason: 'Evicted', message: 'low on disk' }))).toBe(
      'The pod ended: Evicted: low on disk.',
    );
  });

  it('a bound of its own is told from a machine without room', () => {
    const evicted = (message: string) => stateOf(pod({ phase: 'Failed', reason: 'Evicted', message }), 'u1');
    const own = [
      'Usage of EmptyDir volume "orrery" exceeds the limit "32Mi". ',
      'Pod ephemeral local storage usage exceeds the total limit of containers 32Mi. ',
      'Container agent exceeded its local ephemeral storage limit "32Mi". ',
    ];
    for (const message of own)
      expect(evicted(message)).toEqual({ state: 'gone', why: `Evicted: ${message.slice(0, -2)}`, limit: 'disk' });
    const others =
      'The node was low on resource: ephemeral-storage. Container agent was using 2Gi, which exceeds its request of 0.';
    expect(evicted(others)).toEqual({ state: 'gone', why: `Evicted: ${others.slice(0, -1)}` });
    const memory = pod({ phase: 'Failed', containerStatuses: [terminated('OOMKilled', 137)] });
    expect(stateOf(memory, 'u1')).toMatchObject({ state: 'gone', limit: 'memory' });
  });
});
