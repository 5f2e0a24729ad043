// The provider of containers for the conformance suite, in the engine of a test.
import { dirname } from 'node:path';
import { connectEngine } from '../../src/exec/docker/engine.ts';
import { createDockerProvider } from '../../src/exec/docker/provider.ts';
import type { PlaceProvider } from '../../src/exec/remote/place.ts';
import { NODE } from '../conformance/stage.ts';
import { SMALL_IMAGE } from './engine.ts';
import { sampleOptions } from './samples.ts';

/** What the suite is told: the socket of its engine. The installation is that of `remoteParts`. */
export const providerOf = (given: unknown): PlaceProvider => {
  const connected = connectEngine(String(given));
  connected.catch(() => undefined);
  const options = sampleOptions({ image: SMALL_IMAGE, toolPaths: [dirname(dirname(NODE))] });
  return createDockerProvider({
    options,
    installation: 'test',
    programs: { programs: null, node: dirname(NODE) },
    engine: () => connected,
  });
};
