// Pods as places: one for each environment, found again by its labels.
import type { V1Pod } from '@kubernetes/client-node';
import { OrreryError } from '@orrery/protocol/errors';
import type { GuaranteeReport } from '../../keeper/types.ts';
import type { Clock } from '../../kernel/clock.ts';
import { runInPlace } from '../remote/command.ts';
import { layoutOf } from '../remote/furnish.ts';
import type { Place, PlaceCommand, PlaceProcess, PlaceProvider, PlaceSpec, PlaceState } from '../remote/place.ts';
import type { Cluster } from './cluster.ts';
import { endingByMark, marked } from './end-mark.ts';
import { endedByCluster, isOver, startupOf, stateOf } from './explain.ts';
import { imageOf } from './image.ts';
import { GONE_MS, POLL_MS, QUOTA_POLL_MS } from './limits.ts';
import {
  ENVIRONMENT_ANNOTATION,
  ROOT,
  environmentSelector,
  instanceOf,
  instanceSelector,
  networkPolicyManifest,
  podManifest,
  podName,
} from './manifest.ts';
import type { KubernetesOptions } from './options.ts';
import { measure } from './measure.ts';
import { withEndingInput, withPieces } from './stdin.ts';

/** What the provider works with. */
export type ProviderParts = {
  readonly options: KubernetesOptions;
  readonly installation: string;
  /** Asked when it is needed: a node with a broken kubeconfig starts. */
  readonly cluster: () => Promise<Cluster>;
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
};

type Ref = { readonly name: string; readonly uid: string; readonly protocol: string };

const VARIABLES = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', SHELL: '/bin/sh', LANG: 'C.UTF-8' };

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

// The cluster gives a volume to a group, and what is made in it would inherit that.
const MAKE_ROOT = 'mkdir -m 0700 -p "$1" && chmod g-s "$1"';

const uidOf = (pod: V1Pod): string => pod.metadata?.uid ?? '';

const execIn =
  (cluster: Cluster, { name, protocol }: Ref) =>
  async (command: PlaceCommand): Promise<PlaceProcess> => {
    const { timeoutMs } = command;
    const by = { protocol, keeper: layoutOf({ root: ROOT }).keeper };
    // What is held open ends by the word of its own protocol.
    if (command.stdin === 'open')
      return withPieces(protocol, await cluster.exec({ pod: name, timeoutMs, ...(await withEndingInput(by, command)) }));
    const { argv, mark } = marked(command.argv);
    return endingByMark(await cluster.exec({ pod: name, timeoutMs, ...(await withEndingInput(by, { ...command, argv })) }), mark);
  };

const stateIn = async (cluster: Cluster, { name, uid }: Ref): Promise<PlaceState> => {
  try {
    return stateOf(await cluster.readPod(name), uid);
  } catch (thrown) {
    return { state: 'unknown', why: thrown instanceof Error ? thrown.message : String(thrown) };
  }
};

/** Deletes a pod and waits until nothing of it runs. */
const removePod = async (
  { clock }: ProviderParts,
  cluster: Cluster,
  pod: { readonly name: string; readonly uid: string },
): Promise<void> => {
  const start = clock.monotonicMs();
  for (;;) {
    const found = await cluster.readPod(pod.name);
    if (found === null || uidOf(found) !== pod.uid || isOver(found)) return;
    if (found.metadata?.deletionTimestamp === undefined) await cluster.deletePod(pod.name, { uid: pod.uid });
    if (clock.monotonicMs() - start > GONE_MS)
      throw new OrreryError('backend_unreachable', `The pod ${pod.name} was deleted but does not go away.`, {
        rule: 'A place is given back when it is certainly gone.',
        fix: `kubectl describe pod ${pod.name}`,
      });
    await clock.sleep(POLL_MS);
  }
};

const placeOf = (parts: ProviderParts, cluster: Cluster, ref: Ref): Place => ({
  ref,
  identity: { podUid: ref.uid },
  root: ROOT,
  owner: null,
  variables: VARIABLES,
  mounted: [],
  exec: execIn(cluster, ref),
  state: () => stateIn(cluster, ref),
  explain: async () => endedByCluster(await cluster.readPod(ref.name).catch(() => null)),
  stats: () => measure(execIn(cluster, ref)),
  remove: () => removePod(parts, cluster, ref),
  detach: () => undefined,
});

/** What one pod is made with. */
type Creating = Omit<ProviderParts, 'cluster'> & { readonly cluster: Cluster; readonly progress: (line: string) => void };

const failed = (why: string): OrreryError =>
  new OrreryError('backend_unavailable', `The pod did not start: ${why}`, {
    rule: 'A pod is ready before anything is carried in.',
    fix: 'Look at the image and at the room of the cluster: orrery backend check kubernetes',
  });

const created = async ({ options, clock, cluster, progress }: Creating, manifest: V1Pod): Promise<void> => {
  const start = clock.monotonicMs();
  for (;;) {
    const made = await cluster.createPod(manifest);
    if (made.answer === 'made') return;
    if (made.answer === 'exists') {
      // One of an earlier try is taken over; one that goes makes room for another.
      const before = await cluster.readPod(manifest.metadata?.name ?? '');
      if (before !== null && before.metadata?.deletionTimestamp === undefined) return;
      if (clock.monotonicMs() - start >= GONE_MS) throw failed('one of its name does not go away');
      await clock.sleep(POLL_MS);
      continue;
    }
    if (clock.monotonicMs() - start >= options.quotaWaitSeconds * 1000) throw failed(`no room in the namespace: ${made.why}`);
    progress(`waits for room in the namespace: ${made.why}`);
    await clock.sleep(QUOTA_POLL_MS);
  }
};

const ready = async ({ options, clock, cluster, progress }: Creating, name: string): Promise<V1Pod> => {
  const start = clock.monotonicMs();
  let said = '';
  for (;;) {
    const pod = await cluster.readPod(name);
    if (pod === null) throw failed('it was deleted while it started');
    const startup = startupOf(pod, await cluster.eventsOf(name));
    if (startup.state === 'ready') return pod;
    if (startup.state === 'failed') throw failed(startup.why);
    if (clock.monotonicMs() - start >= options.startupTimeoutSeconds * 1000)
      throw failed(`not ready after ${options.startupTimeoutSeconds} s: ${startup.why}`);
    if (startup.why !== said) progress((said = startup.why));
    await clock.sleep(POLL_MS);
  }
};

/** The protocol that the cluster speaks, asked by the first command; its exit proves that commands run. */
const greet = async (parts: ProviderParts, cluster: Cluster, pod: V1Pod): Promise<Place> => {
  const name = pod.metadata?.name ?? '';
  const first = await cluster.exec({ pod: name, argv: ['sh', '-c', 'true'], timeoutMs: 60_000 });
  first.stdio.resume();
  const place = placeOf(parts, cluster, { name, uid: uidOf(pod), protocol: first.protocol });
  await first.ended;
  const answer = await runInPlace(place, ['sh', '-c', MAKE_ROOT, 'sh', ROOT]);
  if (answer.exitCode === 0) return place;
  throw failed(`its shell answers ${answer.exitCode}: ${answer.stderr.trim().slice(-200)}`);
};

const create = async (parts: ProviderParts, spec: PlaceSpec, progress: (line: string) => void): Promise<Place> => {
  const { options } = parts;
  const cluster = await parts.cluster();
  const instance = instanceOf(options, parts.installation);
  const manifest = podManifest(spec, { options, instance, image: imageOf(options, spec.image) });
  const name = podName(instance, spec.environmentId);
  if (options.networkPolicy) await cluster.keepPolicy(networkPolicyManifest(options, instance));
  progress(`pod ${name} in ${options.namespace}`);
  const creating: Creating = { ...parts, cluster, progress };
  await created(creating, manifest);
  try {
    return await greet(parts, cluster, await ready(creating, name));
  } catch (thrown) {
    // Nothing was carried in yet and no program ran; one that cannot be reached is swept later by its label.
    if (thrown instanceof OrreryError && thrown.code === 'backend_unavailable') await cluster.deletePod(name, 'unstarted');
    throw thrown;
  }
};

const find = async (parts: ProviderParts, ref: Readonly<Record<string, string>>): Promise<Place | null> => {
  const cluster = await parts.cluster();
  const { name = '', uid = '', protocol = '' } = ref;
  const pod = await cluster.readPod(name);
  return pod === null || uidOf(pod) !== uid || isOver(pod) ? null : placeOf(parts, cluster, { name, uid, protocol });
};

const sweep = async (parts: ProviderParts, environmentId: string): Promise<void> => {
  const cluster = await parts.cluster();
  const selector = environmentSelector(instanceOf(parts.options, parts.installation), environmentId);
  for (const pod of await cluster.listPods(selector))
    await removePod(parts, cluster, { name: pod.metadata?.name ?? '', uid: uidOf(pod) });
};

const preflight = async (parts: ProviderParts): Promise<void> => {
  const missing = await (await parts.cluster()).lacking();
  if (missing.length > 0)
    throw new OrreryError(
      'backend_unavailable',
      `The node may not ${missing.join(', ')} in the namespace ${parts.options.namespace}.`,
      {
        rule: 'Pods are made, read, listed and deleted, and commands run in them.',
        fix: 'Give its account a role with these verbs.',
      },
    );
};

/** The provider of pods. */
export const createPodPlaces = (parts: ProviderParts): PlaceProvider => ({
  name: 'kubernetes',
  preflight: () => preflight(parts),
  create: (spec, progress) => create(parts, spec, progress),
  find: (_environmentId, ref) => find(parts, ref),
  list: async () => {
    const pods = await (await parts.cluster()).listPods(instanceSelector(instanceOf(parts.options, parts.installation)));
    return pods
      .filter((pod) => !isOver(pod))
      .map(({ metadata }) => metadata?.annotations?.[ENVIRONMENT_ANNOTATION])
      .filter((id) => id !== undefined);
  },
  sweep: (environmentId) => sweep(parts, environmentId),
  provides: PROVIDES,
  cannotStop,
  defaultRequired: ['files', 'network', 'processes'],
});
