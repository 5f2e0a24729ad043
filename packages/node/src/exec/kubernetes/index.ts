// Backend `kubernetes`: a pod for each environment.
import { systemClock } from '../../kernel/clock.ts';
import type { BackendFactory } from '../backend.ts';
import { parseBackendOptions, refuseMoved } from '../options.ts';
import { createRemoteBackend } from '../remote/index.ts';
import type { RemoteBackendParts } from '../remote/index.ts';
import type { Cluster } from './cluster.ts';
import { kubernetesOptions } from './options.ts';
import { createPodPlaces } from './provider.ts';

/** Keys that were once here. */
const MOVED = { allowedImagePrefixes: 'execution.allowedImages' };

/** The factory of `kubernetes`. Its options: `kubernetesOptions`. */
export const kubernetesFactory = (parts: RemoteBackendParts): BackendFactory => ({
  name: 'kubernetes',
  aliases: ['k8s'],
  summary: 'A pod for each environment, on any cluster that a kubeconfig reaches.',
  make: (given) => {
    refuseMoved('kubernetes', given, MOVED);
    const options = parseBackendOptions('kubernetes', kubernetesOptions, given);
    let opened: Promise<Cluster> | null = null;
    // Loaded when it is used: the cluster's client is large, and most nodes have none.
    const open = async (): Promise<Cluster> => (await import('./cluster.ts')).openCluster(options);
    const cluster = (): Promise<Cluster> => (opened ??= forgetFailure(open()));
    const forgetFailure = (opening: Promise<Cluster>): Promise<Cluster> =>
      opening.catch((thrown: unknown) => {
        opened = null;
        throw thrown;
      });
    return createRemoteBackend(
      createPodPlaces({ options, installation: parts.installation, cluster, clock: systemClock }),
      parts,
    );
  },
});
