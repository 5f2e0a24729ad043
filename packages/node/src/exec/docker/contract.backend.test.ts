import { describeWithEngine } from '../../../test/docker/engine.ts';
import * as module from '../../../test/docker/docker-provider.ts';
import { describeRemote } from '../../../test/remote/describe-remote.ts';

describeWithEngine('with an engine', (engine) => {
  const path = new URL('../../../test/docker/docker-provider.ts', import.meta.url).pathname;
  describeRemote(
    'docker',
    { path, module, given: () => engine().socket },
    {
      confines: { files: true, network: true, processes: true },
      seesNeighbours: true,
      // The number of processes is the container's to hold, for all of its programs together: see provider.backend.test.ts.
      enforces: { memory: true, processes: false },
    },
  );
});
