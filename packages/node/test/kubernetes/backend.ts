// The backend kubernetes as a node has it, on the cluster of the tests.
import { kubernetesFactory } from '../../src/exec/kubernetes/index.ts';
import type { Backend } from '../../src/exec/backend.ts';
import type { AtPlaceStep } from '../../src/exec/remote/steps.ts';
import { remoteParts } from '../remote/remote-parts.ts';
import { TEST_IMAGE } from './cluster.ts';

/** Where such a backend is. */
export type PodPlace = {
  readonly kubeconfig: string;
  readonly stateDir: string;
  readonly instance: string;
  readonly atStep?: AtPlaceStep;
};

/** The backend, with everything real, and other options than usual where a test wants them. */
export const makePodBackend = (
  { kubeconfig, stateDir, instance, atStep }: PodPlace,
  options: Record<string, unknown> = {},
): Backend =>
  kubernetesFactory(remoteParts(stateDir, { variables: process.env, ...(atStep === undefined ? {} : { atStep }) })).make({
    kubeconfig,
    instance,
    image: TEST_IMAGE,
    imagePullPolicy: 'Never',
    startupTimeoutSeconds: 120,
    ...options,
  });
