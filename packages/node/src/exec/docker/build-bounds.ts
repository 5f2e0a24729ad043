// What a build may take, each bound with its name: the engine holds what it can, and what it cannot is measured.
import { OrreryError } from '@orrery/protocol/errors';
import { BUILD_CPUS, BUILD_MEMORY_BYTES } from '../image/limits.ts';
import { CONTAINER_PROCESSES } from './limits.ts';
import type { DockerOptions } from './options.ts';

/** Bounds of one build. */
export type BuildBounds = {
  readonly memoryBytes: number;
  readonly cpus: number;
  readonly processes: number;
  /** Of the image with its bases, while it is made and when it is done; and of one file. */
  readonly diskBytes: number;
  readonly timeMs: number;
};

/** A bound that ends a build. The processors' only slows it down. */
export type BuildBound = Exclude<keyof BuildBounds, 'cpus'>;

/** The operator's bounds for builds, else those of containers, else the usual ones. */
export const boundsOf = ({ build, ...options }: DockerOptions): BuildBounds => ({
  memoryBytes: build.memoryBytes ?? options.memoryBytes ?? BUILD_MEMORY_BYTES,
  cpus: build.cpus ?? options.cpus ?? BUILD_CPUS,
  processes: build.processes ?? options.processes ?? CONTAINER_PROCESSES,
  diskBytes: build.diskBytes,
  timeMs: build.timeMs,
});

const said: Readonly<Record<BuildBound, (value: number) => string>> = {
  memoryBytes: (value) => `It used more than ${value} bytes of memory.`,
  processes: (value) => `A step reached the ${value} processes that it may have.`,
  diskBytes: (value) => `It took more than ${value} bytes of disk, its bases among them.`,
  timeMs: (value) => `It took longer than ${value} ms.`,
};

/** The error of a build that reached a bound: `limit_reached`, with the key that names it. `output`: what it said last. */
export const boundReached = (bound: BuildBound, bounds: BuildBounds, output = ''): OrreryError =>
  new OrreryError('limit_reached', `The image of the project was not built. ${said[bound](bounds[bound])}${output}`, {
    rule: `Builds are bounded: execution.options.docker.build.${bound}.`,
    fix: `Let the build take less, or raise execution.options.docker.build.${bound}: orrery config path`,
    details: { limit: `build.${bound}` },
  });
