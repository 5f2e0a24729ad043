import type { DockerGiven } from '../../../test/docker/docker-provider.ts';
import * as module from '../../../test/docker/docker-provider.ts';
import { describeWithEngine } from '../../../test/docker/engine.ts';
import { describeRemote } from '../../../test/remote/describe-remote.ts';

describeWithEngine('with an engine', (engine) => {
  const path = new URL('../../../test/docker/docker-provider.ts', import.meta.url).pathname;
  const variants: readonly (readonly [string, DockerGiven['options'], (readonly string[])?])[] = [
    ['docker', {}],
    // The directories of the suite belong to root. What has nothing to do with directories is the same.
    ['docker with bound directories', { workspace: 'bind', user: '0:0' }, ['grants', 'secrets', 'restarts', 'leftovers']],
  ];
  for (const [name, options, groups] of variants)
    describeRemote(
      name,
      { path, module, given: () => ({ socket: engine().socket, options }) satisfies DockerGiven },
      {
        groups,
        confines: { files: true, network: true, processes: true },
        seesNeighbours: true,
        // The number of processes is the container's to hold, for all of its programs together: see provider.backend.test.ts.
        enforces: { memory: true, processes: false },
      },
    );
});
