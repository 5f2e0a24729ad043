// The provider of pods, for the conformance suite: a module of its own, since a second process makes it too.
import { randomUUID } from 'node:crypto';
import { systemClock } from '../../src/kernel/clock.ts';
import { openCluster } from '../../src/exec/kubernetes/cluster.ts';
import { kubernetesOptions } from '../../src/exec/kubernetes/options.ts';
import { createPodPlaces } from '../../src/exec/kubernetes/provider.ts';
import type { PlaceProvider } from '../../src/exec/remote/place.ts';
import { TEST_IMAGE } from './cluster.ts';

/** The cluster, and the name that separates this suite from others on it. */
export type Given = { readonly kubeconfig: string; readonly instance: string };

/** A name nobody else uses. */
export const freshInstance = (): string => `test-${randomUUID().slice(0, 8)}`;

export const providerOf = (given: unknown): PlaceProvider => {
  const { kubeconfig, instance } = given as Given;
  const options = kubernetesOptions.parse({
    kubeconfig,
    instance,
    image: TEST_IMAGE,
    imagePullPolicy: 'Never',
    startupTimeoutSeconds: 120,
  });
  return createPodPlaces({
    options,
    installation: 'test',
    cluster: () => Promise.resolve(openCluster(options)),
    clock: systemClock,
  });
};
