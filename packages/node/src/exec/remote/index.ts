// A backend whose environments are places somewhere else: what docker, kubernetes and ssh share.
import { OrreryError } from '@orrery/protocol/errors';
import type { Backend } from '../backend.ts';
import { checkGuarantees } from '../guarantee-check.ts';
import type { KeeperBackendParts } from '../keeper-backend.ts';
import { furnish } from './furnish.ts';
import type { PlaceProvider } from './place.ts';

/** What the node gives every remote backend. */
export type RemoteBackendParts = KeeperBackendParts & {
  /** Names this node among others that use the same engine, cluster or host. */
  readonly installation: string;
  /** The static keeper program for a Linux machine of that architecture (`x64`, `arm64`). */
  readonly keeperProgram: (arch: string) => string;
};

/** A backend over the places of `provider`. */
export const createRemoteBackend = (provider: PlaceProvider, parts: RemoteBackendParts): Backend => ({
  name: provider.name,
  exposure: { kind: 'loopback' },
  guarantees: () => Promise.resolve(provider.provides),
  cannotStop: provider.cannotStop,
  defaultRequired: provider.defaultRequired,
  preflight: async (required) => {
    await provider.preflight();
    checkGuarantees(provider.name, provider.provides, required);
  },
  open: async (spec) => {
    const { installation } = parts;
    const asked = { environmentId: spec.id, taskId: spec.taskId, installation, image: spec.image, limits: spec.limits };
    const place = await provider.create({ ...asked, mountable: [] }, () => undefined);
    await furnish(place, parts.keeperProgram);
    await place.remove();
    throw new OrreryError('unsupported', `Programs cannot be started by ${provider.name} yet.`);
  },
  reopen: (spec) =>
    Promise.reject(new OrreryError('not_found', `The environment ${spec.id} was never opened by ${provider.name}.`)),
  reclaim: async (live) => {
    const dead = (await provider.list()).filter((id) => !live.includes(id));
    for (const id of dead) await provider.sweep(id);
    return dead;
  },
});
