// Building images and taking them away: the calls to an engine for that.
import type { Readable } from 'node:stream';
import type Docker from 'dockerode';
import type { BuildBounds } from './build-bounds.ts';
import { call, follow, followEvents, orNull, parse } from './engine-call.ts';
import type { Labelled } from './engine-call.ts';
import { LABELS } from './labels.ts';
import { ENGINE_CALL_MS, ENGINE_REMOVE_MS } from './limits.ts';
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
  readonly bounds: BuildBounds;
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
  /** How many processes a container that runs may have from now on. */
  boundProcesses(id: string, most: number): Promise<void>;
  /** Tells of every container of an installation in which the kernel ended a program for want of memory, until the signal. */
  watchMemory(installation: string, signal: AbortSignal, onKill: (container: string) => void): Promise<void>;
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
  memory: request.bounds.memoryBytes,
  memswap: request.bounds.memoryBytes,
  cpuperiod: CPU_PERIOD,
  cpuquota: Math.round(request.bounds.cpus * CPU_PERIOD),
  // One file of it: what many files take together is measured.
  ulimits: [{ Name: 'fsize', Soft: request.bounds.diskBytes, Hard: request.bounds.diskBytes }],
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
      // Its own time is over before: then the signal says which bound that was.
      request.bounds.timeMs + ENGINE_CALL_MS,
    ),
  boundProcesses: (id, most) =>
    call('bounding a build', async () => void (await docker.getContainer(id).update({ PidsLimit: most }))),
  watchMemory: async (installation, signal, onKill) => {
    const label = [`${LABELS.installation}=${installation}`];
    // The types of the library do not know the signal.
    const asked: Docker.GetEventsOptions & { readonly abortSignal: AbortSignal } = {
      filters: { type: ['container'], event: ['oom'], label },
      abortSignal: signal,
    };
    const stream = (await docker.getEvents(asked)) as unknown as Readable;
    signal.addEventListener('abort', () => stream.destroy());
    await followEvents(stream, ({ Actor }) => onKill(Actor.ID));
  },
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
