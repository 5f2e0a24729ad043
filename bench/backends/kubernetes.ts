import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { kubernetesFactory } from '../../packages/node/src/exec/kubernetes/index.ts';
import { TEST_IMAGE } from '../../packages/node/test/kubernetes/cluster.ts';
import { saveSmallImage } from '../../packages/testkit/src/index.ts';
import { clusterRecipe } from '../../tools/machine.ts';
import { timed } from '../benchmark.ts';
import type { TimeLimit } from '../time-limit.ts';
import { bareCommand, bytesOfDu, whyMissing } from './bare-command.ts';
import type { BareTool, Contender } from './subject.ts';
import { NOTHING } from './tree.ts';

const BUDGET_MS = 140_000;
/** How long the cluster may take to stop. */
const STOP_MS = 60_000;

type Kubectl = (...args: readonly string[]) => Promise<string>;

/** Waits for what ours waits for: that nothing of it runs. The cluster's record of it may stay for ten seconds more. */
const untilEnded = async (kubectl: Kubectl, name: string): Promise<void> => {
  try {
    await kubectl('wait', '--for=jsonpath={.status.phase}=Failed', '--timeout=30s', `pod/${name}`);
  } catch (thrown) {
    if (!/not ?found/i.test(String(thrown))) throw thrown;
  }
};

const bareKubectl = (kubeconfig: string, tree: string): BareTool => {
  let count = 0;
  const kubectl: Kubectl = (...args) => bareCommand(['kubectl', '--kubeconfig', kubeconfig, ...args]);
  return {
    words: {
      open: 'kubectl run, wait, cp, exec',
      exec: 'kubectl exec',
      close: 'kubectl delete --now, until it ended',
      fetch: 'kubectl cp back, delete --now, until it ended',
      stage: 'kubectl cp',
    },
    open: async () => {
      const name = `bare-${process.pid}-${count++}`;
      const image = [`--image=${TEST_IMAGE}`, '--image-pull-policy=Never', '--restart=Never'];
      await kubectl('run', name, ...image, '--command', '--', 'sleep', '600');
      await kubectl('wait', '--for=condition=Ready', '--timeout=60s', `pod/${name}`);
      const stagedMs = await timed(() => kubectl('cp', tree, `${name}:/tmp/files`));
      const exec = (...argv: readonly string[]): Promise<string> => kubectl('exec', name, '--', ...argv);
      return {
        stagedMs,
        exec: async () => void (await exec(...NOTHING)),
        change: async (script) => void (await exec('sh', '-ec', `cd /tmp/files; ${script}`)),
        diskBytes: async () => bytesOfDu(await exec('du', '-sk', '/tmp/files')),
        close: async (fetch) => {
          if (fetch) await kubectl('cp', `${name}:/tmp/files`, tree);
          await kubectl('delete', 'pod', name, '--now', '--wait=false');
          await untilEnded(kubectl, name);
        },
      };
    },
  };
};

const recipe = (): string | undefined => clusterRecipe(dirname(dirname(import.meta.dirname)));

const script = (name: string, ...args: readonly string[]): readonly string[] => ['bash', join(recipe() ?? '', name), ...args];

const startCluster = async (directory: string, limit: TimeLimit): Promise<string> => {
  const archive = join(directory, 'image.tar');
  saveSmallImage(archive, TEST_IMAGE);
  try {
    const said = await bareCommand(script('up.sh', join(directory, 'cluster'), archive), Math.ceil(limit.left()));
    return said.trim().split('\n').at(-1) ?? '';
  } finally {
    rmSync(archive, { force: true });
  }
};

const whyNoCluster = (): string | null => {
  if (process.getuid?.() !== 0) return 'not root: a cluster of our own cannot be started';
  if (recipe() === undefined) return 'no recipe for a cluster (shared/lab beside the checkout, or ORRERY_TEST_LAB)';
  return whyMissing('kubernetes-client', 'kubectl');
};

/** The recipe's ports are fixed: another cluster that has them would be stopped with ours. */
const API_PORT = 16443;

const mustBeAlone = async (): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const probe = connect({ port: API_PORT, host: '127.0.0.1' }, () => resolve(true));
  probe.once('error', () => resolve(false));
  const taken = await promise;
  probe.destroy();
  if (taken) throw new Error(`a cluster is running on this machine already (port ${API_PORT})`);
};

/** Pods in a cluster of one machine that the benchmark starts. */
export const kubernetes: Contender = {
  name: 'kubernetes',
  budgetMs: BUDGET_MS,
  why: whyNoCluster,
  make: async ({ directory, bare, parts }, limit) => {
    const stop = async (): Promise<void> => void (await bareCommand(script('down.sh', join(directory, 'cluster')), STOP_MS));
    await mustBeAlone();
    try {
      const kubeconfig = await startCluster(directory, limit);
      return {
        backend: kubernetesFactory(parts).make({
          kubeconfig,
          instance: `bench-${process.pid}`,
          image: TEST_IMAGE,
          imagePullPolicy: 'Never',
          startupTimeoutSeconds: 60,
        }),
        bare: bareKubectl(kubeconfig, bare),
        diskBytes: async (environment) => (await environment.stats()).diskBytes ?? Number.NaN,
        close: stop,
      };
    } catch (thrown) {
      await stop();
      throw thrown;
    }
  },
};
