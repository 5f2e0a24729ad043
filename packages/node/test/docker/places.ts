// Containers of the backend docker in the engine of a test.
import { text } from 'node:stream/consumers';
import type { TestEngine } from '@orrery/testkit';
import { connectEngine } from '../../src/exec/docker/engine.ts';
import type { DockerOptions } from '../../src/exec/docker/options.ts';
import { createDockerProvider } from '../../src/exec/docker/provider.ts';
import type { Place, PlaceCommand, PlaceProvider, PlaceSpec } from '../../src/exec/remote/place.ts';
import { findKeeperBinary } from '../../src/keeper/binary.ts';
import { word } from '../conformance/stage.ts';
import { SMALL_IMAGE } from './engine.ts';
import { sampleOptions, samplePlace } from './samples.ts';

/** Where a node has its programs. */
export const LOCAL_PROGRAMS = { programs: '/data/programs', node: '/node/bin' };

/** What a command may take on a slow machine. */
export const LONG_MS = 60_000;

/** Runs a command of a place to its end. */
export const runIn = async (place: Place, argv: readonly string[], over: Partial<PlaceCommand> = {}) => {
  const process = await place.exec({ argv, timeoutMs: LONG_MS, ...over });
  const stdout = await text(process.stdio);
  return { stdout, stderr: process.stderr(), end: await process.ended };
};

/** The same for a script of the shell; `words` are its arguments. */
export const shellIn = (place: Place, script: string, ...words: string[]) => runIn(place, ['sh', '-c', script, 'sh', ...words]);

/** The id of a place's container. */
export const idOf = (place: Place): string => place.ref.container!;

/** One node with an installation of its own in the engine. */
export const createPlaces = (engine: () => TestEngine) => {
  const installation = `inst-${word()}`;
  const spec = (over: Partial<PlaceSpec> = {}): PlaceSpec =>
    samplePlace({ installation, environmentId: `env-${word()}`, ...over });
  const provider = async (over: Partial<DockerOptions> = {}, socket = engine().socket): Promise<PlaceProvider> => {
    const connected = await connectEngine(socket);
    const options = sampleOptions({ image: SMALL_IMAGE, ...over });
    return createDockerProvider({
      options,
      installation,
      keeperProgram: () => findKeeperBinary(),
      programs: LOCAL_PROGRAMS,
      engine: () => Promise.resolve(connected),
    });
  };
  /** Every container of the engine, whoever made it. */
  const containers = async (): Promise<string[]> => {
    const { text: answer } = await engine().ask('GET', '/containers/json?all=true');
    return (JSON.parse(answer) as { Id: string }[]).map(({ Id }) => Id);
  };
  return {
    installation,
    spec,
    provider,
    containers,
    create: async (over: Partial<DockerOptions> = {}, of: Partial<PlaceSpec> = {}): Promise<Place> =>
      (await provider(over)).create(spec(of), () => undefined),
    /** Removes what the node has; answers what is left in the engine. */
    sweep: async (): Promise<string[]> => {
      const places = await provider();
      for (const id of await places.list()) await places.sweep(id);
      return containers();
    },
  };
};
