// The real cluster that tests run on: made once for all of them by the recipe beside the repository.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CoreV1Api, KubeConfig, PolicyApi, type V1Pod } from '@kubernetes/client-node';
import { instanceSelector } from '../../src/exec/kubernetes/manifest.ts';
import { clusterRecipe } from '../../../../tools/machine.ts';

/** The image that pods of tests are made from; it is in the cluster, no registry is asked. */
export const TEST_IMAGE = 'docker.io/local/agent:1';

/** Where a running cluster of tests is: set by the set-up of the suite for its files. */
export const CLUSTER_VARIABLE = 'ORRERY_TEST_KUBECONFIG';

/** The kubeconfig of the cluster that the suite's set-up started. */
export const testKubeconfig = (): string => {
  const file = process.env[CLUSTER_VARIABLE];
  if (file === undefined) throw new Error('The cluster of the tests was not started.');
  return file;
};

const root = dirname(dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url))))));

const run = (script: string, args: readonly string[]): string => {
  const recipe = clusterRecipe(root);
  if (recipe === undefined) throw new Error('There is no recipe for a cluster beside the repository.');
  const { status, stdout, stderr } = spawnSync('bash', [join(recipe, script), ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 280_000,
  });
  if (status === 0) return stdout.trim();
  throw new Error(`The cluster of the tests did not obey (${script}): ${stdout.slice(-1000)} ${stderr.slice(-2000)}`);
};

/** Starts a cluster in `directory` with the images of `archives` in it, or finds the one that runs there; answers its kubeconfig. */
export const startCluster = (directory: string, archives: readonly string[]): string =>
  run('up.sh', [directory, ...archives])
    .split('\n')
    .at(-1) ?? '';

/** Stops it; the directory stays. */
export const stopCluster = (directory: string): void => void run('down.sh', [directory]);

const coreOfTests = (): CoreV1Api => {
  const config = new KubeConfig();
  config.loadFromFile(testKubeconfig());
  return config.makeApiClient(CoreV1Api);
};

/** Takes the pods of an instance away as somebody else would, at once and without a word to their programs. */
export const deletePods = async (instance: string): Promise<void> => {
  const core = coreOfTests();
  for (const name of await podsOf(instance))
    await core.deleteNamespacedPod({ namespace: 'default', name, gracePeriodSeconds: 0 });
};

/** Evicts them as a drain of their machine does: by the eviction interface of the cluster, in the form that it has. */
export const evictPods = async (instance: string): Promise<void> => {
  const core = coreOfTests();
  const apiVersion = (await hasPolicy()) ? 'policy/v1' : 'policy/v1beta1';
  for (const name of await podsOf(instance)) {
    const body = { apiVersion, kind: 'Eviction', metadata: { name, namespace: 'default' } };
    await core.createNamespacedPodEviction({ namespace: 'default', name, body });
  }
};

/** Whether the cluster has version 1 of what evicts (Kubernetes 1.22 and later). */
const hasPolicy = async (): Promise<boolean> => {
  const config = new KubeConfig();
  config.loadFromFile(testKubeconfig());
  const { versions } = await config.makeApiClient(PolicyApi).getAPIGroup();
  return versions.some(({ version }) => version === 'v1');
};

const podsThere = async (instance: string): Promise<V1Pod[]> => {
  const labelSelector = instanceSelector(instance);
  const { items } = await coreOfTests().listNamespacedPod({ namespace: 'default', labelSelector });
  return items.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
};

/** Pods of an instance in the cluster, those left out that are being deleted. */
export const podsOf = async (instance: string): Promise<string[]> =>
  (await podsThere(instance)).map(({ metadata }) => metadata?.name ?? '');

/** What these are made from. */
export const imagesOf = async (instance: string): Promise<(string | undefined)[]> =>
  (await podsThere(instance)).map(({ spec }) => spec?.containers[0]?.image);
