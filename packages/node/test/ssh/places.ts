// The backend ssh, and its places, on a host of the tests.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Backend } from '../../src/exec/backend.ts';
import type { PlaceProvider } from '../../src/exec/remote/place.ts';
import { sshFactory, sshPlaces } from '../../src/exec/ssh/index.ts';
import type { SshBackendParts } from '../../src/exec/ssh/index.ts';
import { directSpawner } from '../../src/kernel/spawner.ts';
import { remoteParts } from '../remote/remote-parts.ts';
import type { SshHost } from './host.ts';

/** What the node would give; `stateDir` is the caller's. */
export const sshParts = (stateDir: string, over: Partial<SshBackendParts> = {}): SshBackendParts => ({
  ...remoteParts(stateDir),
  variables: process.env,
  spawner: directSpawner,
  ...over,
});

/** Options of the backend. */
export type SshOptions = Readonly<Record<string, unknown>>;

/** How `account` of a host is named. */
export const optionsFor = (host: Pick<SshHost, 'config'>, account = 'root'): SshOptions => ({
  host: `box-${account}`,
  config: host.config,
});

/** Places on `host` as `account`, and the end of what the client keeps here. */
export const placesOn = (
  host: SshHost,
  account = 'root',
  options: SshOptions = {},
): { readonly places: PlaceProvider; forget(): void } => {
  const stateDir = mkdtempSync(join(tmpdir(), 'orrery-ssh-state-'));
  return {
    places: sshPlaces({ ...optionsFor(host, account), ...options }, sshParts(stateDir)),
    forget: () => rmSync(stateDir, { recursive: true, force: true }),
  };
};

/** The backend on `host`. */
export const backendOn = (host: SshHost, parts: SshBackendParts, options: SshOptions = {}): Backend =>
  sshFactory(parts).make({ ...optionsFor(host), ...options });
