// What programs in a pod find when they try to get out: nothing, after real attempts.
import { makePodBackend } from '../../../test/kubernetes/backend.ts';
import { podsOf, testKubeconfig } from '../../../test/kubernetes/cluster.ts';
import { freshInstance } from '../../../test/kubernetes/provider.ts';
import { describeEscape } from '../../../test/remote/describe-escape.ts';

const instance = freshInstance();

describeEscape('in a pod', {
  backend: ({ stateDir }) => makePodBackend({ kubeconfig: testKubeconfig(), stateDir, instance }),
  closed: () => ({ cluster: testKubeconfig(), disks: '/dev/vda', 'keys of the kernel': '/proc/kcore' }),
  left: () => podsOf(instance),
});
