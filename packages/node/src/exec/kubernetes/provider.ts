// Pods as places: one for each environment, found again by its labels.
import type { V1PersistentVolumeClaim } from '@kubernetes/client-node';
import { OrreryError } from '@orrery/protocol/errors';
import type { GuaranteeReport } from '../../keeper/types.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Place, PlaceProvider, PlaceSpec } from '../remote/place.ts';
import { holderOf, isGoing, keepsFiles } from './claim.ts';
import type { Cluster } from './cluster.ts';
import { isOver } from './explain.ts';
import { imageOf } from './image.ts';
import {
  ENVIRONMENT_ANNOTATION,
  boundsMemory,
  environmentSelector,
  instanceOf,
  instanceSelector,
  networkPolicyManifest,
  podManifest,
  podName,
} from './manifest.ts';
import type { KubernetesOptions } from './options.ts';
import { podPlace, podRefOf, removePod, uidOf } from './pod.ts';
import type { PodRef } from './pod.ts';
import { startPod } from './starting.ts';
import { claimHolders, discardClaims, pruneClaims, settleClaims, takeClaim } from './volumes.ts';
import type { VolumeParts } from './volumes.ts';

/** What the provider works with. */
export type ProviderParts = {
  readonly options: KubernetesOptions;
  readonly installation: string;
  /** Asked when it is needed: a node with a broken kubeconfig starts. */
  readonly cluster: () => Promise<Cluster>;
  readonly clock: Pick<Clock, 'monotonicMs' | 'nowMs' | 'sleep'>;
};

/** The same while one thing is done. */
type Open = VolumeParts;

const held = (guarantee: GuaranteeReport['guarantee'], by: string): GuaranteeReport => ({
  guarantee,
  held: true,
  by,
  missing: null,
});

/** What a pod holds by itself; its keepers find out the rest, the network first of all. */
const PROVIDES: readonly GuaranteeReport[] = [
  held('files', "a file system of the image's own"),
  held('processes', 'pid and ipc namespaces of the container, no capabilities, no new privileges'),
  held('signals', 'pid namespace of the container'),
];

const cannotStop = [
  'A fault of the kernel of the machine that the pod runs on, unless its runtime class is another one.',
  'Whatever an image brings: its programs are as trusted as who made it.',
  'Seeing and signalling other programs of the same environment, its hooks among them.',
  'Changing hooks, settings and other protected paths in its copy of the checkout: the node never runs or reads them from there.',
  'Sending data to an allowed host: names are checked, contents are not.',
  'Whoever may read pods and run commands in them in that namespace, and whoever runs the machines of the cluster.',
];

const opened = async ({ options, installation, cluster, clock }: ProviderParts): Promise<Open> => ({
  options,
  instance: instanceOf(options, installation),
  cluster: await cluster(),
  clock,
});

const hasVolumes = ({ options }: Pick<Open, 'options'>): boolean => options.workspace === 'volume';

const placeOf = (open: Open, ref: PodRef, given: { readonly environmentId: string; readonly keptFiles: boolean }): Place => {
  const settle = async (): Promise<void> => (ref.claim === '' ? undefined : settleClaims(open, given.environmentId));
  return podPlace({ ...open, settle }, ref, given.keptFiles);
};

/** Takes away what was made for a pod that did not start: no program ran in it and nothing was carried in. */
const undo = async ({ cluster }: Open, pod: string, claim: V1PersistentVolumeClaim | null): Promise<void> => {
  await cluster.deletePod(pod, 'unstarted');
  if (claim === null) return;
  const now = await cluster.readClaim(claim.metadata?.name ?? '');
  // Files that somebody comes back to stay; a claim that was never bound has none.
  if (now !== null && (!keepsFiles(now) || now.status?.phase !== 'Bound')) await cluster.deleteClaim(now);
};

type Asked = {
  readonly spec: Pick<PlaceSpec, 'environmentId' | 'taskId' | 'limits'>;
  readonly image: string;
  readonly claim: string | null;
  readonly keeps: boolean;
  /** As `startPod` has it. */
  readonly anew: boolean;
  readonly progress: (line: string) => void;
};

const start = async (open: Open, { spec, image, claim, keeps, anew, progress }: Asked): Promise<Place> => {
  const { options } = open;
  const { environmentId, taskId, limits } = spec;
  const manifest = podManifest(spec, { ...open, image, claim });
  const started = await startPod({ ...open, progress, claim }, manifest, { environmentId, anew });
  const ref: PodRef = {
    name: manifest.metadata?.name ?? '',
    uid: uidOf(started.pod),
    protocol: started.protocol,
    image,
    taskId,
    limits: JSON.stringify(limits),
    boundsMemory: boundsMemory(spec, options) ? 'yes' : '',
    claim: claim ?? '',
    keeps: keeps && claim !== null ? 'yes' : '',
  };
  return placeOf(open, ref, { environmentId, keptFiles: started.keptFiles });
};

const create = async (parts: ProviderParts, spec: PlaceSpec, progress: (line: string) => void): Promise<Place> => {
  const { options } = parts;
  const open = await opened(parts);
  const image = imageOf(options, spec.image);
  const name = podName(open.instance, spec.environmentId);
  if (options.networkPolicy) await open.cluster.keepPolicy(networkPolicyManifest(options, open.instance));
  progress(`pod ${name} in ${options.namespace}`);
  const claim = hasVolumes(open) ? await takeClaim(open, spec, progress) : null;
  try {
    const asked = { spec, image, keeps: spec.keeps, anew: true, progress };
    return await start(open, { ...asked, claim: claim?.metadata?.name ?? null });
  } catch (thrown) {
    // One that cannot be reached is swept later by its label.
    if (thrown instanceof OrreryError && thrown.code === 'backend_unavailable') await undo(open, name, claim);
    throw thrown;
  }
};

const find = async (
  parts: ProviderParts,
  environmentId: string,
  given: Readonly<Record<string, string>>,
): Promise<Place | null> => {
  const open = await opened(parts);
  const ref = podRefOf(given);
  const pod = await open.cluster.readPod(ref.name);
  return pod === null || uidOf(pod) !== ref.uid || isOver(pod) ? null : placeOf(open, ref, { environmentId, keptFiles: true });
};

/** Another pod on the volume of one that is gone. */
const revive = async (
  parts: ProviderParts,
  environmentId: string,
  given: Readonly<Record<string, string>>,
): Promise<Place | null> => {
  const ref = podRefOf(given);
  if (ref.claim === '') return null;
  const open = await opened(parts);
  const claim = await open.cluster.readClaim(ref.claim);
  if (claim === null || isGoing(claim) || holderOf(claim) !== environmentId) return null;
  // Two pods never work on one volume: the first is certainly gone.
  await removePod(open.clock, open.cluster, ref);
  const spec = { environmentId, taskId: ref.taskId, limits: JSON.parse(ref.limits) as PlaceSpec['limits'] };
  const { image, keeps } = ref;
  return start(open, { spec, image, claim: ref.claim, keeps: keeps === 'yes', anew: false, progress: () => undefined });
};

const sweep = async (parts: ProviderParts, environmentId: string): Promise<void> => {
  const open = await opened(parts);
  for (const pod of await open.cluster.listPods(environmentSelector(open.instance, environmentId)))
    await removePod(open.clock, open.cluster, { name: pod.metadata?.name ?? '', uid: uidOf(pod) });
  if (hasVolumes(open)) await settleClaims(open, environmentId);
};

const list = async (parts: ProviderParts): Promise<string[]> => {
  const open = await opened(parts);
  const pods = (await open.cluster.listPods(instanceSelector(open.instance))).filter((pod) => !isOver(pod));
  const ofPods = pods.map(({ metadata }) => metadata?.annotations?.[ENVIRONMENT_ANNOTATION]).filter((id) => id !== undefined);
  return [...new Set([...ofPods, ...(hasVolumes(open) ? await claimHolders(open) : [])])];
};

const preflight = async (parts: ProviderParts): Promise<void> => {
  const { options } = parts;
  const cluster = await parts.cluster();
  const missing = await cluster.lacking(hasVolumes(parts));
  if (missing.length > 0)
    throw new OrreryError(
      'backend_unavailable',
      `The node may not ${missing.join(', ')} in the namespace ${options.namespace}.`,
      {
        rule: 'Pods are made, read, listed and deleted, and commands run in them; claims too where files are on volumes.',
        fix: 'Give its account a role with these verbs.',
      },
    );
  const trouble = hasVolumes(parts) ? await cluster.classTrouble(options.volume.storageClass) : null;
  if (trouble !== null)
    throw new OrreryError('backend_unavailable', trouble, {
      rule: 'A volume is made by the storage class that its claim names.',
      fix: 'Set execution.options.kubernetes.volume.storageClass (kubectl get storageclass), or workspace: emptyDir.',
    });
};

/** The provider of pods. */
export const createPodPlaces = (parts: ProviderParts): PlaceProvider => ({
  name: 'kubernetes',
  takesImages: true,
  preflight: () => preflight(parts),
  create: (spec, progress) => create(parts, spec, progress),
  find: (environmentId, ref) => find(parts, environmentId, ref),
  revive: (environmentId, ref) => revive(parts, environmentId, ref),
  list: () => list(parts),
  sweep: (environmentId) => sweep(parts, environmentId),
  discard: async (environmentId) => {
    if (hasVolumes(parts)) await discardClaims(await opened(parts), environmentId);
  },
  prune: async (asked) => (hasVolumes(parts) ? pruneClaims(await opened(parts), asked) : []),
  provides: PROVIDES,
  cannotStop,
  defaultRequired: ['files', 'network', 'processes'],
});
