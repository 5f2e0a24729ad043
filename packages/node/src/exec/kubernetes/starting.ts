// A pod from its manifest until commands run in it, with what it waits for said on the way.
import type { V1Pod } from '@kubernetes/client-node';
import { OrreryError } from '@orrery/protocol/errors';
import type { Clock } from '../../kernel/clock.ts';
import { mustRun } from '../remote/command.ts';
import type { Cluster } from './cluster.ts';
import { startupOf } from './explain.ts';
import { GONE_MS, POLL_MS, QUOTA_POLL_MS } from './limits.ts';
import { ROOT, VOLUME } from './manifest.ts';
import type { KubernetesOptions } from './options.ts';
import { PASSING, execIn } from './pod.ts';
import { whyPending } from './volumes.ts';

/** What one pod is started with. */
export type Starting = {
  readonly options: KubernetesOptions;
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
  readonly cluster: Cluster;
  readonly progress: (line: string) => void;
  /** Claim of its volume, or null. */
  readonly claim: string | null;
};

/** A pod in which commands run. */
export type Started = {
  readonly pod: V1Pod;
  readonly protocol: string;
  /** Whether files of this environment's last opening were found. */
  readonly keptFiles: boolean;
};

export const failed = (why: string): OrreryError =>
  new OrreryError('backend_unavailable', `The pod did not start: ${why}`, {
    rule: 'A pod is ready before anything is carried in.',
    fix: 'Look at the image and at the room of the cluster: orrery backend check kubernetes',
  });

const created = async ({ options, clock, cluster, progress }: Starting, manifest: V1Pod): Promise<void> => {
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

const whyStarting = async ({ cluster, claim }: Starting, why: string): Promise<string> => {
  const pending = claim === null ? null : await whyPending({ cluster }, claim);
  return pending === null ? why : `${why}; ${pending}`;
};

const ready = async (starting: Starting, name: string): Promise<V1Pod> => {
  const { options, clock, cluster, progress } = starting;
  const start = clock.monotonicMs();
  let said = '';
  for (;;) {
    const pod = await cluster.readPod(name);
    if (pod === null) throw failed('it was deleted while it started');
    const startup = startupOf(pod, await cluster.eventsOf(name));
    if (startup.state === 'ready') return pod;
    if (startup.state === 'failed') throw failed(startup.why);
    const why = await whyStarting(starting, startup.why);
    if (clock.monotonicMs() - start >= options.startupTimeoutSeconds * 1000)
      throw failed(`not ready after ${options.startupTimeoutSeconds} s: ${why}`);
    if (why !== said) progress((said = why));
    await clock.sleep(POLL_MS);
  }
};

// A volume of another environment is emptied before anything of this one is on it; on its own, only what programs had passes.
// The cluster gives a volume to a group, and what is made in it would inherit that.
const PREPARE = `
umask 077
root=$1; owner=$2; id=$3; shift 3
if [ -e "$root" ]; then
  if [ "$(cat "$owner" 2>/dev/null)" = "$id" ]; then set -- "$@"; echo kept; else set -- ''; fi
  for name; do
    at=$root\${name:+/$name}
    chmod -R u+rwX -- "$at" 2>/dev/null
    rm -rf -- "$at" || exit 1
  done
fi
mkdir -m 0700 -p "$root" && chmod g-s "$root" && printf %s "$id" > "$owner"
`;

const OWNER = `${VOLUME}/environment`;

/**
 * Makes the pod of a manifest, or finds the one of an earlier try, and prepares its folder. `anew`: the environment is being
 * opened; else what it had is left exactly as it is.
 */
export const startPod = async (
  starting: Starting,
  manifest: V1Pod,
  { environmentId, anew }: { readonly environmentId: string; readonly anew: boolean },
): Promise<Started> => {
  const { cluster } = starting;
  const name = manifest.metadata?.name ?? '';
  await created(starting, manifest);
  const pod = await ready(starting, name);
  // The protocol that the cluster speaks is asked by the first command; its exit proves that commands run.
  const first = await cluster.exec({ pod: name, argv: ['sh', '-c', 'true'], timeoutMs: 60_000 });
  first.stdio.resume();
  const { protocol } = first;
  await first.ended;
  if (!anew) return { pod, protocol, keptFiles: true };
  const argv = ['sh', '-c', PREPARE, 'sh', ROOT, OWNER, environmentId, ...PASSING];
  const said = await mustRun({ exec: execIn(cluster, { name, protocol }) }, argv, { what: 'Preparing its folder' });
  return { pod, protocol, keptFiles: starting.claim !== null && said.toString('utf8').includes('kept') };
};
