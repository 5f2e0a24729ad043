// The backend docker as a node has it, in the engine of a test.
import { dirname } from 'node:path';
import { dockerFactory } from '../../src/exec/docker/index.ts';
import type { Backend } from '../../src/exec/backend.ts';
import type { AtPlaceStep } from '../../src/exec/remote/steps.ts';
import { createGit } from '../../src/git/run.ts';
import { findKeeperBinary } from '../../src/keeper/binary.ts';
import { createKeeperClient } from '../../src/keeper/client.ts';
import { createLocalTrees } from '../../src/keeper/trees.ts';
import { directSpawner } from '../../src/kernel/spawner.ts';
import { NODE } from '../conformance/stage.ts';
import { SMALL_IMAGE } from './engine.ts';

/** Where such a backend is. */
export type DockerPlace = {
  readonly socket: string;
  readonly stateDir: string;
  readonly installation: string;
  /** Beside the socket, the image and Node, which programs of tests need. */
  readonly options?: Readonly<Record<string, unknown>>;
  readonly atStep?: AtPlaceStep;
};

/** The backend, with everything real. */
export const makeDockerBackend = ({ socket, stateDir, installation, options = {}, atStep }: DockerPlace): Backend =>
  dockerFactory({
    keeper: createKeeperClient({ binary: () => findKeeperBinary() }),
    stateDir,
    protectedPaths: [],
    variables: process.env,
    installation,
    keeperProgram: () => findKeeperBinary(),
    trees: createLocalTrees({ binary: () => findKeeperBinary(), spawner: directSpawner }),
    git: createGit({ spawner: directSpawner }),
    atStep,
  }).make({ socket, image: SMALL_IMAGE, toolPaths: [dirname(dirname(NODE))], ...options });
