// Claims of volumes, as pure functions: whose they are, who holds them, and which of them have been kept long enough.
//
// A claim is held by one environment at a time: its label and annotations name the holder, and they are changed under the
// claim's own version, so that of two who want it one gets it. A claim without a holder is free for its project.
import type { V1PersistentVolumeClaim } from '@kubernetes/client-node';
import type { PlaceSpec } from '../remote/place.ts';
import { ENVIRONMENT_ANNOTATION, LABELS, TASK_ANNOTATION, environmentLabel, projectLabel } from './manifest.ts';
import type { KubernetesOptions } from './options.ts';

/** When the last holder gave it back (ISO time). */
const GIVEN_BACK = 'orrery.dev/given-back';
/** An environment that comes back to its files: they stay when its pod goes. */
const KEEPS = 'orrery.dev/keeps';

/** What is asked of a claim. */
export type ClaimAsk = Pick<PlaceSpec, 'environmentId' | 'taskId' | 'project' | 'keeps'>;

const DAY_MS = 86_400_000;

/** The environment that holds a claim; null when it is free. */
export const holderOf = (claim: V1PersistentVolumeClaim): string | null =>
  claim.metadata?.annotations?.[ENVIRONMENT_ANNOTATION] ?? null;

/** Whether its files stay when the pod of its holder goes. */
export const keepsFiles = (claim: V1PersistentVolumeClaim): boolean => claim.metadata?.annotations?.[KEEPS] === 'true';

/** Whether it is on its way out. */
export const isGoing = (claim: V1PersistentVolumeClaim): boolean => claim.metadata?.deletionTimestamp !== undefined;

const givenBackMs = (claim: V1PersistentVolumeClaim): number => {
  const time = Date.parse(claim.metadata?.annotations?.[GIVEN_BACK] ?? '');
  return Number.isNaN(time) ? 0 : time;
};

/** The claim as its new holder has it: nothing of the one before. */
export const heldBy = (claim: V1PersistentVolumeClaim, ask: ClaimAsk): V1PersistentVolumeClaim => ({
  ...claim,
  metadata: {
    ...claim.metadata,
    labels: { ...claim.metadata?.labels, [LABELS.environment]: environmentLabel(ask.environmentId) },
    annotations: {
      ...foreign(claim.metadata?.annotations),
      [ENVIRONMENT_ANNOTATION]: ask.environmentId,
      [TASK_ANNOTATION]: ask.taskId,
      ...(ask.keeps ? { [KEEPS]: 'true' } : {}),
    },
  },
});

/** The claim without a holder. */
export const givenBack = (claim: V1PersistentVolumeClaim, nowMs: number): V1PersistentVolumeClaim => {
  const { [LABELS.environment]: _held, ...labels } = claim.metadata?.labels ?? {};
  return {
    ...claim,
    metadata: {
      ...claim.metadata,
      labels,
      annotations: { ...foreign(claim.metadata?.annotations), [GIVEN_BACK]: new Date(nowMs).toISOString() },
    },
  };
};

/** What others noted on it: the cluster's own notes are among them. */
const foreign = (annotations: Readonly<Record<string, string>> | undefined): Record<string, string> =>
  Object.fromEntries(Object.entries(annotations ?? {}).filter(([name]) => !name.startsWith('orrery.dev/')));

/** A new claim. Holds no secret. */
export const claimManifest = (
  ask: ClaimAsk,
  { options, instance }: { readonly options: KubernetesOptions; readonly instance: string },
): V1PersistentVolumeClaim => {
  const { storageClass, size, accessMode, reuse } = options.volume;
  const project: Record<string, string> =
    reuse === 'project' && ask.project !== null ? { [LABELS.project]: projectLabel(ask.project) } : {};
  const bare: V1PersistentVolumeClaim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      generateName: 'orrery-',
      namespace: options.namespace,
      labels: { [LABELS.managedBy]: 'orrery', [LABELS.instance]: instance, ...project },
    },
    spec: {
      accessModes: [accessMode],
      resources: { requests: { storage: size } },
      ...(storageClass === null ? {} : { storageClassName: storageClass }),
    },
  };
  return heldBy(bare, ask);
};

/** Whether a claim that was given back fits what is asked for now: options may have changed since. */
export const fits = (claim: V1PersistentVolumeClaim, { volume }: KubernetesOptions): boolean =>
  claim.status?.phase === 'Bound' &&
  claim.spec?.accessModes?.includes(volume.accessMode) === true &&
  claim.spec.resources?.requests?.['storage'] === volume.size &&
  (volume.storageClass === null || claim.spec.storageClassName === volume.storageClass);

/** Which free claims have to go: the oldest beyond the number of each project, and all beyond the days. */
export const outlived = (
  claims: readonly V1PersistentVolumeClaim[],
  { volume }: KubernetesOptions,
  nowMs: number,
): V1PersistentVolumeClaim[] => {
  const free = claims.filter((claim) => holderOf(claim) === null && !isGoing(claim));
  const newest = free.toSorted((a, b) => givenBackMs(b) - givenBackMs(a));
  const seen = new Map<string, number>();
  return newest.filter((claim) => {
    const project = claim.metadata?.labels?.[LABELS.project] ?? '';
    const before = seen.get(project) ?? 0;
    seen.set(project, before + 1);
    return before >= volume.keepNumber || nowMs - givenBackMs(claim) > volume.keepDays * DAY_MS;
  });
};
