// What a remote backend is made of, with everything real, for tests.
import { findKeeperBinary } from '../../src/keeper/binary.ts';
import { createKeeperClient } from '../../src/keeper/client.ts';
import type { RemoteBackendParts } from '../../src/exec/remote/index.ts';

/** Parts with their state in `stateDir`. */
export const remoteParts = (stateDir: string, over: Partial<RemoteBackendParts> = {}): RemoteBackendParts => ({
  keeper: createKeeperClient({ binary: () => findKeeperBinary() }),
  stateDir,
  protectedPaths: [],
  variables: {},
  installation: 'test',
  keeperProgram: () => findKeeperBinary(),
  ...over,
});
