// Volumes that outlive pods: how an environment gets its claim, and what becomes of it.
import type { V1PersistentVolumeClaim } from '@kubernetes/client-node';
import { OrreryError } from '@orrery/protocol/errors';
import type { Clock } from '../../kernel/clock.ts';
import { claimManifest, fits, givenBack, heldBy, holderOf, isGoing, keepsFiles, outlived } from './claim.ts';
import type { ClaimAsk } from './claim.ts';
import type { Cluster } from './cluster.ts';
import { POLL_MS, QUOTA_POLL_MS } from './limits.ts';
import { LABELS, environmentSelector, instanceSelector, projectLabel } from './manifest.ts';
import type { KubernetesOptions } from './options.ts';

/** What works on claims. */
export type VolumeParts = {
  readonly options: KubernetesOptions;
  readonly instance: string;
  readonly cluster: Cluster;
  readonly clock: Pick<Clock, 'monotonicMs' | 'nowMs' | 'sleep'>;
};

const claimsOfEnvironment = ({ cluster, instance }: VolumeParts, environmentId: string) =>
  cluster.listClaims(environmentSelector(instance, environmentId));

const freeClaim = async (parts: VolumeParts, ask: ClaimAsk): Promise<V1PersistentVolumeClaim | null> => {
  const { options, instance, cluster } = parts;
  if (options.volume.reuse !== 'project' || ask.project === null) return null;
  const ofProject = await cluster.listClaims(`${instanceSelector(instance)},${LABELS.project}=${projectLabel(ask.project)}`);
  for (const claim of ofProject) {
    // Whose holder is dead is given back when that one is settled and its work is safe: never taken by guess.
    if (holderOf(claim) !== null || isGoing(claim) || !fits(claim, options)) continue;
    // Of two who want it one gets it: the other one's version is old.
    const taken = await cluster.replaceClaim(heldBy(claim, ask));
    if (taken !== null) return taken;
  }
  return null;
};

const made = async (parts: VolumeParts, ask: ClaimAsk, progress: (line: string) => void): Promise<V1PersistentVolumeClaim> => {
  const { options, cluster, clock } = parts;
  const start = clock.monotonicMs();
  for (;;) {
    const claim = await cluster.createClaim(claimManifest(ask, parts));
    if (!('full' in claim)) return claim;
    if (clock.monotonicMs() - start >= options.quotaWaitSeconds * 1000)
      throw new OrreryError('backend_unavailable', `There is no room for a volume in the namespace: ${claim.full}`, {
        rule: 'Volumes count against the quota of the namespace.',
        fix: 'orrery env prune, or a larger quota',
      });
    progress(`waits for room for a volume: ${claim.full}`);
    await clock.sleep(QUOTA_POLL_MS);
  }
};

/** The claim of an environment: its own from before, one that its project has free, or a new one. */
export const takeClaim = async (
  parts: VolumeParts,
  ask: ClaimAsk,
  progress: (line: string) => void,
): Promise<V1PersistentVolumeClaim> => {
  const own = (await claimsOfEnvironment(parts, ask.environmentId)).find((claim) => !isGoing(claim));
  return own ?? (await freeClaim(parts, ask)) ?? made(parts, ask, progress);
};

/** Gives a claim back: kept for its project as the options say, else deleted. Its pod is certainly gone. */
const giveBack = async (parts: VolumeParts, claim: V1PersistentVolumeClaim): Promise<void> => {
  const { cluster, options, clock } = parts;
  const name = claim.metadata?.name ?? '';
  const project = claim.metadata?.labels?.[LABELS.project];
  for (let now: V1PersistentVolumeClaim | null = claim; now !== null && !isGoing(now); now = await cluster.readClaim(name)) {
    if (holderOf(now) !== holderOf(claim)) return;
    if (project === undefined || options.workspace !== 'volume' || options.volume.reuse !== 'project' || !fits(now, options))
      return cluster.deleteClaim(now);
    if ((await cluster.replaceClaim(givenBack(now, clock.nowMs()))) !== null) return dropOutlived(parts);
    await clock.sleep(POLL_MS);
  }
};

/** Deletes free claims that were kept long enough. */
const dropOutlived = async (parts: VolumeParts): Promise<void> => {
  const { cluster, instance, options, clock } = parts;
  const all = await cluster.listClaims(instanceSelector(instance));
  for (const claim of outlived(all, options, clock.nowMs())) await cluster.deleteClaim(claim);
};

/** After the pod of an environment is gone: files that it comes back to stay, everything else is given back. */
export const settleClaims = async (parts: VolumeParts, environmentId: string): Promise<void> => {
  for (const claim of await claimsOfEnvironment(parts, environmentId)) if (!keepsFiles(claim)) await giveBack(parts, claim);
};

/** Deletes whatever an environment has kept. */
export const discardClaims = async (parts: VolumeParts, environmentId: string): Promise<void> => {
  for (const claim of await claimsOfEnvironment(parts, environmentId)) await parts.cluster.deleteClaim(claim);
};

/** Environments that hold a claim without coming back to it. */
export const claimHolders = async ({ cluster, instance }: VolumeParts): Promise<string[]> => {
  const held = (await cluster.listClaims(instanceSelector(instance))).filter((claim) => !isGoing(claim) && !keepsFiles(claim));
  return held.map(holderOf).filter((id) => id !== null);
};

/** Deletes what is kept for projects, and for environments that nobody knows any more. Answers whose that was. */
export const pruneClaims = async (
  { cluster, instance }: VolumeParts,
  { known, dryRun }: { readonly known: readonly string[]; readonly dryRun: boolean },
): Promise<string[]> => {
  const all = (await cluster.listClaims(instanceSelector(instance))).filter((claim) => !isGoing(claim));
  const dead = all.filter((claim) => {
    const holder = holderOf(claim);
    return holder === null || (keepsFiles(claim) && !known.includes(holder));
  });
  if (!dryRun) for (const claim of dead) await cluster.deleteClaim(claim);
  return dead.map((claim) => holderOf(claim) ?? claim.metadata?.name ?? '');
};

/** What a claim that is not bound says of itself; null when it is bound, or says nothing. */
export const whyPending = async ({ cluster }: Pick<VolumeParts, 'cluster'>, name: string): Promise<string | null> => {
  const claim = await cluster.readClaim(name);
  if (claim === null) return `its claim ${name} is gone`;
  if (claim.status?.phase === 'Bound') return null;
  const events = await cluster.eventsOf(name);
  const { storageClassName = 'the default' } = claim.spec ?? {};
  const said = events.findLast(({ message }) => message !== undefined)?.message;
  return `its claim ${name} (storage class ${storageClassName}) is ${claim.status?.phase ?? 'Pending'}${said === undefined ? '' : `: ${said}`}`;
};
