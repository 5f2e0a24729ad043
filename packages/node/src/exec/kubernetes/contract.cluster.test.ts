import { testKubeconfig } from '../../../test/kubernetes/cluster.ts';
import * as module from '../../../test/kubernetes/provider.ts';
import { describeRemote } from '../../../test/remote/describe-remote.ts';

const instance = module.freshInstance();

describeRemote(
  'pods',
  {
    path: new URL('../../../test/kubernetes/provider.ts', import.meta.url).pathname,
    module,
    given: () => ({ kubeconfig: testKubeconfig(), instance }) satisfies module.Given,
    node: {
      path: '/usr/bin/node',
      grant: { path: '/usr', access: 'rox', scope: 'absolute', provenance: 'environment', required: true },
    },
  },
  {
    confines: { files: true, network: true, processes: true },
    seesNeighbours: true,
    enforces: { memory: false, processes: false },
  },
);
