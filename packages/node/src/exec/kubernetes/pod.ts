// One pod as a place: commands in it, whether it is there, and taking it away.
import type { V1Pod } from '@kubernetes/client-node';
import { OrreryError } from '@orrery/protocol/errors';
import type { Clock } from '../../kernel/clock.ts';
import { mustRun } from '../remote/command.ts';
import { layoutOf } from '../remote/layout.ts';
import { measurePlace } from '../remote/measure.ts';
import type { Place, PlaceCommand, PlaceProcess, PlaceState } from '../remote/place.ts';
import type { Cluster } from './cluster.ts';
import { endingByMark, marked } from './end-mark.ts';
import { endedByCluster, isOver, stateOf } from './explain.ts';
import { GONE_MS, POLL_MS } from './limits.ts';
import { ROOT } from './manifest.ts';
import { withEndingInput, withPieces } from './stdin.ts';

/** What finds a pod again, and makes another one on its volume. */
export type PodRef = {
  readonly name: string;
  readonly uid: string;
  readonly protocol: string;
  readonly image: string;
  readonly taskId: string;
  /** Limits that it was made with, as JSON. */
  readonly limits: string;
  /** Whether its memory is bounded: `yes` or nothing. */
  readonly boundsMemory: string;
  /** Claim of its volume; empty: its files go with it. */
  readonly claim: string;
  /** Whether the environment comes back to these files: `yes` or nothing. */
  readonly keeps: string;
};

const VARIABLES = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', SHELL: '/bin/sh', LANG: 'C.UTF-8' };

/** What was recorded of a pod; what older records lack is empty. */
export const podRefOf = (ref: Readonly<Record<string, string>>): PodRef => ({
  name: ref['name'] ?? '',
  uid: ref['uid'] ?? '',
  protocol: ref['protocol'] ?? '',
  image: ref['image'] ?? '',
  taskId: ref['taskId'] ?? '',
  limits: ref['limits'] ?? '{}',
  boundsMemory: ref['boundsMemory'] ?? '',
  claim: ref['claim'] ?? '',
  keeps: ref['keeps'] ?? '',
});

export const uidOf = (pod: V1Pod): string => pod.metadata?.uid ?? '';

/** Runs commands in a pod by the protocol that its cluster speaks. */
export const execIn =
  (cluster: Cluster, { name, protocol }: Pick<PodRef, 'name' | 'protocol'>) =>
  async (command: PlaceCommand): Promise<PlaceProcess> => {
    const { timeoutMs } = command;
    const by = { protocol, keeper: layoutOf({ root: ROOT }).keeper };
    // What is held open ends by the word of its own protocol.
    if (command.stdin === 'open')
      return withPieces(protocol, await cluster.exec({ pod: name, timeoutMs, ...(await withEndingInput(by, command)) }));
    const { argv, mark } = marked(command.argv);
    return endingByMark(await cluster.exec({ pod: name, timeoutMs, ...(await withEndingInput(by, { ...command, argv })) }), mark);
  };

const stateIn = async (cluster: Cluster, { name, uid }: PodRef): Promise<PlaceState> => {
  try {
    return stateOf(await cluster.readPod(name), uid);
  } catch (thrown) {
    return { state: 'unknown', why: thrown instanceof Error ? thrown.message : String(thrown) };
  }
};

/** Deletes a pod and waits until nothing of it runs. */
export const removePod = async (
  clock: Pick<Clock, 'monotonicMs' | 'sleep'>,
  cluster: Cluster,
  pod: Pick<PodRef, 'name' | 'uid'>,
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

/** Everything of an environment but its files: programs' records, what was carried in for them, tokens among it, the keeper. */
export const PASSING = ['runs', 'provided', 'carried', 'keeper', 'broker.sock'] as const;
const CLEAN =
  'root=$1; shift; cd "$root" || exit 0; for name; do chmod -R u+rwX -- "$name" 2>/dev/null; rm -rf -- "$name" || exit 1; done';

/** What removing the place of a pod needs beside it. */
export type PodPlaceParts = {
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
  readonly cluster: Cluster;
  /** What becomes of its volume once the pod is gone. */
  readonly settle: () => Promise<void>;
};

/** The place of a pod. */
export const podPlace = ({ clock, cluster, settle }: PodPlaceParts, ref: PodRef, keptFiles: boolean): Place => {
  const exec = execIn(cluster, ref);
  return {
    ref,
    identity: { podUid: ref.uid },
    root: ROOT,
    owner: null,
    variables: VARIABLES,
    mounted: [],
    keptFiles,
    boundsMemory: ref.boundsMemory === 'yes',
    exec,
    state: () => stateIn(cluster, ref),
    explain: async () => endedByCluster(await cluster.readPod(ref.name).catch(() => null)),
    stats: () => measurePlace({ exec }, ROOT),
    remove: async () => {
      const state = stateOf(await cluster.readPod(ref.name), ref.uid);
      // Nothing secret outlives the programs on a volume that stays.
      if (ref.keeps === 'yes' && state.state === 'running')
        await mustRun({ exec }, ['sh', '-c', CLEAN, 'sh', ROOT, ...PASSING], { what: 'Clearing a volume' });
      await removePod(clock, cluster, ref);
      await settle();
    },
    detach: () => undefined,
  };
};
