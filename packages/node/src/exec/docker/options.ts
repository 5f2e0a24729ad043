import { version } from '@orrery/protocol/version';
import { z } from 'zod';
import { BUILD_MS, BUILT_IMAGE_BYTES } from '../image/limits.ts';
import { LEAST_MEMORY_BYTES } from './limits.ts';

/** The image that is taken when nobody names one; made by `docker/` of the repository. */
export const STANDARD_IMAGE = `orrery/agent:${version}`;

const image = z.string().regex(/^[a-zA-Z0-9][\w.\-/:@]{0,255}$/, 'the name of an image');
const absolutePath = z.string().regex(/^\/[^:]*$/, 'an absolute path without a colon');

/** `execution.options.docker`. */
export const dockerOptions = z.strictObject({
  socket: absolutePath
    .nullable()
    .default(null)
    .describe("The engine's socket (Docker or Podman); else DOCKER_HOST, else the usual places"),
  image: image.nullable().default(null).describe(`The image of every environment; else ${STANDARD_IMAGE}`),
  pull: z
    .enum(['never', 'missing', 'always'])
    .default('never')
    .describe('Whether images are fetched from a registry: never, when missing, or before every use'),
  workspace: z
    .enum(['copy', 'bind'])
    .default('copy')
    .describe('How the checkout gets in: copied in and out, or mounted from this machine'),
  user: z
    .string()
    .regex(/^\d{1,9}:\d{1,9}$/, 'user and group as numbers, for example 1000:1000')
    .nullable()
    .default(null)
    .describe("User and group of programs; else the image's own if it is not root, else 1000:1000"),
  memoryBytes: z.int().min(LEAST_MEMORY_BYTES).nullable().default(null).describe('Memory of one container, without swap'),
  cpus: z.number().positive().max(1024).nullable().default(null).describe('Processors of one container, for example 1.5'),
  processes: z.int().min(1).max(4_000_000).nullable().default(null).describe('Processes of one container'),
  build: z
    .strictObject({
      memoryBytes: z
        .int()
        .min(LEAST_MEMORY_BYTES)
        .nullable()
        .default(null)
        .describe('Memory of one step, without swap; else memoryBytes, else 4 GiB'),
      cpus: z.number().positive().max(1024).nullable().default(null).describe('Processors of one step; else cpus, else 2'),
      processes: z
        .int()
        .min(4)
        .max(4_000_000)
        .nullable()
        .default(null)
        .describe('Processes of one step; else processes, else 4096'),
      diskBytes: z
        .int()
        .min(1_048_576)
        .default(BUILT_IMAGE_BYTES)
        .describe('Size of the image with its bases, while it is made and when it is done, and of one file'),
      timeMs: z.int().min(1_000).max(86_400_000).default(BUILD_MS).describe('How long a build may take'),
    })
    .prefault({})
    .describe('Bounds of a build of an image of a project'),
  readOnlyRoot: z
    .boolean()
    .default(false)
    .describe("The image's own files cannot be changed; only the environment's folders can"),
  toolPaths: z
    .array(absolutePath)
    .default([])
    .describe('Directories of this machine that are mounted read-only at the same place'),
  runtime: z
    .string()
    .regex(/^[\w.-]{1,64}$/, 'the name of a runtime')
    .nullable()
    .default(null)
    .describe('A runtime of the engine other than its own, for example runsc'),
});

/** The options as they are used. */
export type DockerOptions = z.output<typeof dockerOptions>;
