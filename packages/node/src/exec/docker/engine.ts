// The calls to a container engine that the backend makes, each with a deadline and its answer checked.
import type { Duplex, Readable } from 'node:stream';
import type Docker from 'dockerode';
import { engineBuilds } from './builds.ts';
import type { EngineBuilds } from './builds.ts';
import { call, follow, orNull, parse } from './engine-call.ts';
import type { Labelled } from './engine-call.ts';
import { isNameTaken } from './engine-error.ts';
import { labelFilter } from './labels.ts';
import type { Owner } from './labels.ts';
import { ENGINE_REMOVE_MS, PULL_MS } from './limits.ts';
import type { ContainerRequest } from './request.ts';
import { containerSchema, execSchema, imageSchema, aboutSchema, listedSchema, statsSchema, volumesSchema } from './wire.ts';
import type { EngineContainer, EngineImage, EngineAbout, EngineStats } from './wire.ts';

/** One command to be executed in a container. */
export type ExecRequest = {
  readonly argv: readonly string[];
  readonly user: string;
  readonly variables: readonly string[];
  readonly stdin: boolean;
};

/** An engine. Every call rejects with `backend_unreachable` when nobody answers and `backend_unavailable` when it is refused. */
export type Engine = EngineBuilds & {
  about(): Promise<EngineAbout>;
  /** Null when the engine has no image of that name. */
  findImage(name: string): Promise<EngineImage | null>;
  pull(name: string, progress: (line: string) => void): Promise<void>;
  /** The id of a new container; null when its name is taken. */
  createContainer(request: ContainerRequest): Promise<string | null>;
  start(id: string): Promise<void>;
  /** Null when there is certainly none. `withSize` makes the engine count its files. */
  inspect(id: string, withSize?: boolean): Promise<EngineContainer | null>;
  listContainers(owner: Owner): Promise<readonly Labelled[]>;
  listVolumes(owner: Owner): Promise<readonly Labelled[]>;
  /** Ends everything in it and removes it with its own volumes. Idempotent. */
  removeContainer(id: string): Promise<void>;
  removeVolume(name: string): Promise<void>;
  putArchive(id: string, path: string, archive: Buffer): Promise<void>;
  /** Null when the path is not there. */
  getArchive(id: string, path: string): Promise<Buffer | null>;
  stats(id: string): Promise<EngineStats>;
  /** Starts a command: its id, and its connection (frames out, stdin in). */
  exec(id: string, request: ExecRequest): Promise<{ readonly execId: string; readonly connection: Duplex }>;
  /** Null while it runs, or while the engine does not know yet. */
  exitCode(execId: string): Promise<number | null>;
};

const bytesOf = async (stream: NodeJS.ReadableStream): Promise<Buffer> => {
  const parts: Buffer[] = [];
  for await (const part of stream as Readable) parts.push(part as Buffer);
  return Buffer.concat(parts);
};

/** Podman calls what was built on its machine `localhost/…`, which its interface for Docker's clients does not try by itself. */
const namesOfImage = (name: string): string[] =>
  /^([^/]*[.:][^/]*|localhost)\//.test(name) || name.startsWith('sha256:') ? [name] : [name, `localhost/${name}`];

/** The types of the library do not know it. */
const SIZED: object = { size: true };

type Part<Names extends keyof Engine> = Pick<Engine, Names>;

const images = (docker: Docker): Part<'about' | 'findImage' | 'pull'> => ({
  about: () => call('its description', async () => parse(aboutSchema, await docker.info())),
  findImage: (name) =>
    call(`the image ${name}`, async () => {
      for (const one of namesOfImage(name)) {
        const found = await orNull(docker.getImage(one).inspect(), 404);
        if (found !== null) return parse(imageSchema, found);
      }
      return null;
    }),
  pull: (name, progress) =>
    call(`pulling ${name}`, async (abortSignal) => follow(await docker.pull(name, { abortSignal }), progress), PULL_MS),
});

const containers = (
  docker: Docker,
): Part<'createContainer' | 'start' | 'inspect' | 'listContainers' | 'removeContainer' | 'stats'> => ({
  createContainer: (request) =>
    call('making a container', async () => {
      try {
        // The types of the library know fewer fields than the engine takes.
        return (await docker.createContainer(request as unknown as Docker.ContainerCreateOptions)).id;
      } catch (thrown) {
        if (isNameTaken(thrown)) return null;
        throw thrown;
      }
    }),
  // 304: it runs already.
  start: (id) => call('starting a container', async () => void (await orNull(docker.getContainer(id).start(), 304))),
  inspect: (id, withSize = false) =>
    call('a container', async () => {
      const found = await orNull(docker.getContainer(id).inspect(withSize ? SIZED : {}), 404);
      return found === null ? null : parse(containerSchema, found);
    }),
  listContainers: (owner) =>
    call('the list of containers', async () =>
      parse(listedSchema, await docker.listContainers({ all: true, filters: labelFilter(owner) })).map((one) => ({
        id: one.Id,
        labels: one.Labels ?? {},
      })),
    ),
  removeContainer: (id) =>
    call(
      'removing a container',
      async () => {
        // 409: somebody else is removing it.
        await orNull(docker.getContainer(id).remove({ force: true, v: true }), 404, 409);
        await orNull(docker.getContainer(id).wait({ condition: 'removed' }), 404);
      },
      ENGINE_REMOVE_MS,
    ),
  stats: (id) =>
    call('the measures of a container', async () =>
      parse(statsSchema, await docker.getContainer(id).stats({ stream: false, 'one-shot': true })),
    ),
});

const files = (docker: Docker): Part<'listVolumes' | 'removeVolume' | 'putArchive' | 'getArchive'> => ({
  listVolumes: (owner) =>
    call('the list of volumes', async () =>
      (parse(volumesSchema, await docker.listVolumes({ filters: labelFilter(owner) })).Volumes ?? []).map((one) => ({
        id: one.Name,
        labels: one.Labels ?? {},
      })),
    ),
  removeVolume: (name) => call('removing a volume', async () => void (await orNull(docker.getVolume(name).remove(), 404))),
  putArchive: (id, path, archive) =>
    call('making its folder', async () => void (await docker.getContainer(id).putArchive(archive, { path }))),
  getArchive: (id, path) =>
    call(`reading ${path}`, async () => {
      const stream = await orNull(docker.getContainer(id).getArchive({ path }), 404);
      return stream === null ? null : bytesOf(stream);
    }),
});

const commands = (docker: Docker): Part<'exec' | 'exitCode'> => ({
  exec: (id, { argv, user, variables, stdin }) =>
    call('starting a command', async () => {
      const made = await docker.getContainer(id).exec({
        Cmd: [...argv],
        User: user,
        Env: [...variables],
        WorkingDir: '/',
        AttachStdin: stdin,
        AttachStdout: true,
        AttachStderr: true,
        Tty: false,
      });
      return { execId: made.id, connection: await made.start({ hijack: true, stdin: true }) };
    }),
  exitCode: (execId) =>
    call('the end of a command', async () => {
      const { Running, ExitCode } = parse(execSchema, await docker.getExec(execId).inspect());
      return Running ? null : (ExitCode ?? null);
    }),
});

/** The engine behind a socket. The library is loaded here, so that nodes that use no engine do not carry it. */
export const connectEngine = async (socketPath: string): Promise<Engine> => {
  const { default: Dockerode } = await import('dockerode');
  const docker = new Dockerode({ socketPath });
  return { ...engineBuilds(docker), ...images(docker), ...containers(docker), ...files(docker), ...commands(docker) };
};
