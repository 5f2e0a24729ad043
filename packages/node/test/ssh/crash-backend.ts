// The backend ssh for a node in small that is killed. Given: the options of the backend.
import type { Backend } from '../../src/exec/backend.ts';
import { sshFactory } from '../../src/exec/ssh/index.ts';
import { findKeeperBinary } from '../../src/keeper/binary.ts';
import { createStarter } from '../../src/starter/index.ts';
import type { NodeLife } from '../remote/crash-client.ts';
import { sshParts } from './places.ts';

/** One that stops at a step is killed there: its clients are its starter's, as those of a node are, and end with it. */
export const backendOf = (given: unknown, { stateDir, ...life }: NodeLife): Backend => {
  const spawner = life.atStep === undefined ? {} : { spawner: createStarter({ binary: () => findKeeperBinary() }) };
  return sshFactory(sshParts(stateDir, { ...life, ...spawner })).make(given);
};
