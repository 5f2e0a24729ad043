// The provider of containers for the conformance suite, in the engine of a test.
import { dirname } from 'node:path';
import { connectEngine } from '../../src/exec/docker/engine.ts';
import type { DockerOptions } from '../../src/exec/docker/options.ts';
import { createDockerProvider } from '../../src/exec/docker/provider.ts';
import type { PlaceProvider } from '../../src/exec/remote/place.ts';
import { findKeeperBinary } from '../../src/keeper/binary.ts';
import { NODE } from '../conformance/stage.ts';
import { SMALL_IMAGE } from './engine.ts';
import { sampleOptions } from './samples.ts';

/** What the suite is told: the socket of its engine, and options beside the usual ones. */
export type DockerGiven = { readonly socket: string; readonly options?: Partial<DockerOptions> };

/** The installation is that of `remoteParts`. */
export const providerOf = (given: unknown): PlaceProvider => {
  const { socket, options: over } = given as DockerGiven;
  const connected = connectEngine(socket);
  connected.catch(() => undefined);
  const options = sampleOptions({ image: SMALL_IMAGE, toolPaths: [dirname(dirname(NODE))], ...over });
  return createDockerProvider({
    options,
    installation: 'test',
    keeperProgram: () => findKeeperBinary(),
    programs: { programs: null, node: dirname(NODE) },
    engine: () => connected,
  });
};
