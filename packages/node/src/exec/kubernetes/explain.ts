// What a pod says of itself, in words for people: pure functions of its status and its events.
import type { CoreV1Event, V1ContainerStatus, V1Pod } from '@kubernetes/client-node';
import type { PlaceState } from '../remote/place.ts';
import { CONTAINER } from './manifest.ts';

/** Waiting for the image in these ways does not end well. */
const HOPELESS = [
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrImageNeverPull',
  'InvalidImageName',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
  'CrashLoopBackOff',
];

/** Where a starting pod is. */
export type Startup =
  | { readonly state: 'ready' }
  | { readonly state: 'starting'; readonly why: string }
  | { readonly state: 'failed'; readonly why: string };

const statusOf = (pod: V1Pod): V1ContainerStatus | undefined =>
  pod.status?.containerStatuses?.find(({ name }) => name === CONTAINER);

const sentence = (...parts: readonly (string | undefined)[]): string =>
  parts
    .filter((part) => part !== undefined && part !== '')
    .join(': ')
    .slice(0, 500)
    .replace(/[\s.]+$/, '');

/** Nobody says of a pod that was deleted why, but for clusters that note why they disturbed it (Kubernetes 1.26 and later). */
const DELETED = 'it was deleted, as evictions, drained machines and people do';

const whyDeleted = (pod: V1Pod): string => {
  const disruption = pod.status?.conditions?.find(({ type, status }) => type === 'DisruptionTarget' && status === 'True');
  return disruption === undefined ? DELETED : sentence(disruption.reason, disruption.message);
};

const ended = (pod: V1Pod): string | null => {
  const { phase, reason, message } = pod.status ?? {};
  const terminated = statusOf(pod)?.state?.terminated;
  if (phase !== 'Failed' && phase !== 'Succeeded' && terminated === undefined) return null;
  if (reason === undefined && pod.metadata?.deletionTimestamp !== undefined) return whyDeleted(pod);
  const deadline = reason === 'DeadlineExceeded' ? 'the pod was older than deadlineSeconds' : undefined;
  const memory = terminated?.reason === 'OOMKilled' ? 'it used more memory than its limit' : undefined;
  const code = terminated === undefined ? undefined : `exit code ${terminated.exitCode}`;
  return sentence(reason ?? terminated?.reason ?? phase, deadline ?? memory ?? message ?? terminated?.message ?? code);
};

/** A kubelet's words for a pod that wrote more than it may; it evicts others for a full disk of the machine, which is no fault of theirs. */
const OWN_DISK = [
  /^Usage of EmptyDir volume .* exceeds the limit/,
  /^Pod ephemeral local storage usage exceeds the total limit of containers/,
  /^Container .* exceeded its local ephemeral storage limit/,
];

/** The bound of its own that ended a pod; null: none, or nobody knows. */
const limitOf = (pod: V1Pod): 'disk' | 'memory' | null => {
  const { reason, message = '' } = pod.status ?? {};
  if (reason === 'Evicted' && OWN_DISK.some((words) => words.test(message))) return 'disk';
  return reason === undefined && statusOf(pod)?.state?.terminated?.reason === 'OOMKilled' ? 'memory' : null;
};

/** Whether a pod that was created can be used, and what it waits for. */
export const startupOf = (pod: V1Pod, events: readonly CoreV1Event[]): Startup => {
  const over = ended(pod);
  if (over !== null) return { state: 'failed', why: over };
  const status = statusOf(pod);
  if (status?.ready === true && pod.metadata?.deletionTimestamp === undefined) return { state: 'ready' };
  const { reason, message } = status?.state?.waiting ?? {};
  if (reason !== undefined && HOPELESS.includes(reason)) return { state: 'failed', why: sentence(reason, message) };
  const scheduled = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (scheduled?.status === 'False') return { state: 'starting', why: sentence(scheduled.reason, scheduled.message) };
  const warning = events.findLast(({ type }) => type === 'Warning');
  return { state: 'starting', why: sentence(reason ?? pod.status?.phase ?? 'Pending', warning?.message ?? message) };
};

/** Deleted, and nothing of it runs any more: what is left of it is the cluster's to clear away. */
export const isOver = (pod: V1Pod): boolean => pod.metadata?.deletionTimestamp !== undefined && ended(pod) !== null;

/** Whether the pod is there: null means that the cluster has none of that name. */
export const stateOf = (pod: V1Pod | null, uid: string): PlaceState => {
  if (pod === null) return { state: 'gone', why: 'the cluster has no such pod' };
  if (pod.metadata?.uid !== uid) return { state: 'gone', why: 'another pod has its name' };
  const over = ended(pod);
  if (over === null) return { state: 'running' };
  const limit = limitOf(pod);
  return { state: 'gone', why: over, ...(limit === null ? {} : { limit }) };
};

/** Why programs of a pod may have been ended by the cluster; null when nothing is known. */
export const endedByCluster = (pod: V1Pod | null): string | null => {
  if (pod === null) return `The pod ended: ${DELETED}.`;
  const over = ended(pod);
  const last = statusOf(pod)?.lastState?.terminated;
  if (over !== null) return `The pod ended: ${over}.`;
  return last?.reason === 'OOMKilled' ? 'The container was ended: it used more memory than its limit.' : null;
};
