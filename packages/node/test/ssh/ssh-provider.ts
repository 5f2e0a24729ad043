// The provider of folders on a host for the conformance suite.
import type { PlaceProvider } from '../../src/exec/remote/place.ts';
import { sshPlaces } from '../../src/exec/ssh/index.ts';
import type { SshOptions } from './places.ts';
import { sshParts } from './places.ts';

/** `given`: the options of the backend. */
export const providerOf = (given: unknown, stateDir: string): PlaceProvider => sshPlaces(given as SshOptions, sshParts(stateDir));
