import { describeRemote } from '../../../test/remote/describe-remote.ts';
import * as module from '../../../test/remote/fake-provider.ts';

const root = process.getuid?.() === 0;

describeRemote(
  'a folder of this machine as a place',
  {
    path: new URL('../../../test/remote/fake-provider.ts', import.meta.url).pathname,
    module,
    given: () => null,
  },
  {
    confines: { files: true, network: true, processes: true },
    enforces: { memory: root, processes: root },
  },
);
