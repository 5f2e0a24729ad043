// A node that is killed at any step of an environment in a pod: the next one has its work and leaves nothing.
import { join } from 'node:path';
import { podsOf, testKubeconfig } from '../../../test/kubernetes/cluster.ts';
import * as module from '../../../test/kubernetes/crash-backend.ts';
import { freshInstance } from '../../../test/kubernetes/provider.ts';
import { describeRecovery } from '../../../test/remote/describe-recovery.ts';

describeRecovery('a node that dies, with a cluster', {
  path: join(import.meta.dirname, '../../../test/kubernetes/crash-backend.ts'),
  module,
  given: testKubeconfig,
  installation: freshInstance,
  left: podsOf,
  // One of each thing that is done, since a pod takes its time; containers and hosts are left at every step.
  steps: {
    resumed: ['place-made', 'stage-in', 'place-open', 'run', 'sync', 'stage-out', 'place-removed'],
    closed: [],
    reclaimed: ['place-made'],
  },
});
