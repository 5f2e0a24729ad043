// Building images and taking them away: the calls to an engine for that.
import type { Readable } from 'node:stream';
import type Docker from 'dockerode';
import { BUILD_MS } from '../image/limits.ts';
import { call, follow, orNull, parse } from './engine-call.ts';
import type { Labelled } from './engine-call.ts';
import { LABELS } from './labels.ts';
import { ENGINE_REMOVE_MS } from './limits.ts';
import { imagesSchema } from './wire.ts';

/** A build as the engine is asked for it. */
export type BuildRequest = {
  readonly tag: string;
  /** The name of the Dockerfile in the archive. */
  readonly dockerfile: string;
  readonly target: string | null;
  readonly args: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly network: boolean;
  readonly memoryBytes: number | null;
  readonly cpus: number | null;
};

/** An image of a list. */
export type ListedImage = Labelled & { readonly tags: readonly string[] };

/** Building. Calls reject as all of the engine's. */
export type EngineBuilds = {
  /** Builds by the engine's own builder; the tag is there when all of it went well, and not before. */
  build(
    archive: Readable,
    request: BuildRequest,
    how: { readonly progress: (line: string) => void; readonly signal: AbortSignal },
  ): Promise<void>;
  /** Images with this installation's label, those without a name too. */
  listImages(installation: string): Promise<readonly ListedImage[]>;
  /** False when something uses it. */
  removeImage(id: string): Promise<boolean>;
};

const CPU_PERIOD = 100_000;

const queryOf = (request: BuildRequest) => ({
  t: request.tag,
  dockerfile: request.dockerfile,
  ...(request.target === null ? {} : { target: request.target }),
  buildargs: { ...request.args },
  labels: { ...request.labels },
  ...(request.network ? {} : { networkmode: 'none' }),
  ...(request.memoryBytes === null ? {} : { memory: request.memoryBytes, memswap: request.memoryBytes }),
  ...(request.cpus === null ? {} : { cpuperiod: CPU_PERIOD, cpuquota: Math.round(request.cpus * CPU_PERIOD) }),
  // Containers of a build go with it, also when it fails.
  rm: true,
  forcerm: true,
  version: '1' as const,
});

/** The calls over a connection. */
export const engineBuilds = (docker: Docker): EngineBuilds => ({
  build: (archive, request, { progress, signal }) =>
    call(
      'building an image',
      async (deadline) => {
        const abortSignal = AbortSignal.any([deadline, signal]);
        const stream = await docker.buildImage(archive, { ...queryOf(request), abortSignal });
        const end = (): void => void (stream as Readable).destroy(abortSignal.reason as Error);
        abortSignal.addEventListener('abort', end);
        try {
          if (abortSignal.aborted) end();
          await follow(stream, progress);
        } finally {
          abortSignal.removeEventListener('abort', end);
        }
      },
      BUILD_MS,
    ),
  listImages: (installation) =>
    call('the list of images', async () => {
      const filters = { label: [`${LABELS.installation}=${installation}`] };
      return parse(imagesSchema, await docker.listImages({ all: true, filters })).map((one) => ({
        id: one.Id,
        labels: one.Labels ?? {},
        tags: (one.RepoTags ?? []).filter((tag) => tag !== '<none>:<none>'),
      }));
    }),
  removeImage: (id) =>
    call(
      'removing an image',
      // 409: a container or another image is made of it.
      async () => await orNull(docker.getImage(id).remove(), 404, 409).then((answer) => answer !== null),
      ENGINE_REMOVE_MS,
    ),
});
