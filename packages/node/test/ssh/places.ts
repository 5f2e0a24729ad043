// The backend's places on a host of the tests.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sshPlaces } from '../../src/exec/ssh/index.ts';
import type { PlaceProvider } from '../../src/exec/remote/place.ts';
import { findKeeperBinary } from '../../src/keeper/binary.ts';
import { createKeeperClient } from '../../src/keeper/client.ts';
import { directSpawner } from '../../src/kernel/spawner.ts';
import type { SshHost } from './host.ts';

/** What the node would give; `stateDir` is the caller's. */
export const sshParts = (stateDir: string) => ({
  keeper: createKeeperClient({ binary: () => findKeeperBinary() }),
  stateDir,
  protectedPaths: [],
  variables: process.env,
  installation: 'installation-1',
  keeperProgram: () => findKeeperBinary(),
  spawner: directSpawner,
});

/** Places on `host` as `account`, and the end of what the client keeps here. */
export const placesOn = (
  host: SshHost,
  account = 'root',
  options: Readonly<Record<string, unknown>> = {},
): { readonly places: PlaceProvider; forget(): void } => {
  const stateDir = mkdtempSync(join(tmpdir(), 'orrery-ssh-state-'));
  return {
    places: sshPlaces({ host: `box-${account}`, config: host.config, ...options }, sshParts(stateDir)),
    forget: () => rmSync(stateDir, { recursive: true, force: true }),
  };
};
