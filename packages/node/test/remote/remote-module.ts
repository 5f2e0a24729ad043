// A remote backend for a second process of the conformance suite.
import type { Backend } from '../../src/exec/backend.ts';
import { createRemoteBackend } from '../../src/exec/remote/index.ts';
import type { BackendPlace } from '../conformance/stage.ts';
import type { ProviderModule, RemoteGiven } from './describe-remote.ts';
import { remoteParts } from './remote-parts.ts';

/** The backend over the provider that `given` names. */
export const makeBackend = async (place: BackendPlace, given: RemoteGiven): Promise<Backend> => {
  const { providerOf } = (await import(given.path)) as ProviderModule;
  const parts = remoteParts(place.stateDir, { protectedPaths: place.protectedPaths });
  return createRemoteBackend(providerOf(given.given, place.stateDir), parts);
};
