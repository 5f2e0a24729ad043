// Images that are built out of a repository, by the engine's own builder. What an image is built of is its name, so that it
// is built once and never taken for another one.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { OrreryError, toOrreryError } from '@orrery/protocol/errors';
import { createMutex } from '../../kernel/mutex.ts';
import type { ImageBuild } from '../image/build.ts';
import { readDockerfile } from '../image/dockerfile.ts';
import { BUILD_OUTPUT_BYTES, BUILD_TAIL_LINES, BUILD_WATCH_MS } from '../image/limits.ts';
import { boundReached, boundsOf } from './build-bounds.ts';
import type { BuildBound, BuildBounds } from './build-bounds.ts';
import { watchBuild } from './build-watch.ts';
import type { BuildWatch } from './build-watch.ts';
import type { Engine } from './engine.ts';
import { BUILD_REPOSITORY, ensureImage, isBuiltName } from './image.ts';
import { describeEngine, kindOf } from './kind.ts';
import { LABELS } from './labels.ts';
import type { DockerOptions } from './options.ts';
import { archiveEnd, fileEntry } from './tar.ts';
import type { EngineAbout } from './wire.ts';

/** What building needs. */
export type BuilderParts = {
  readonly options: DockerOptions;
  readonly installation: string;
  readonly engine: () => Promise<Engine>;
  /** How often a build is measured. */
  readonly watchMs?: number;
};

/** Builds an image unless it is there; answers its name. */
export type ImageBuilder = (build: ImageBuild, progress: (line: string) => void) => Promise<string>;

/** The Dockerfile's name in the archive: it may lie outside of its context. */
const DOCKERFILE = '.orrery.Dockerfile';
/** What a build is made of, in a form that changes when this code sends something else for the same. */
const KEY_FORM = 1;

/** The name of what is built of exactly this, on exactly these images. */
export const buildKey = (
  installation: string,
  { dockerfile, target, args, files, network }: Omit<ImageBuild, 'contents' | 'signal'>,
  bases: readonly string[],
): string => {
  const parts = [
    KEY_FORM,
    installation,
    dockerfile,
    target,
    Object.entries(args).toSorted(([a], [b]) => (a < b ? -1 : 1)),
    network,
    bases,
  ];
  const list = files.map(({ path, kind, sha }) => [path, kind, sha]);
  return createHash('sha256')
    .update(JSON.stringify([...parts, list]))
    .digest('hex');
};

/** What engines look for in a context to know what of it programs shall not get. */
const IGNORE = '.dockerignore';

/** The archive for an engine: the context, and the Dockerfile beside it, which no COPY takes along. */
async function* archiveOf(dockerfile: string, { files, contents }: ImageBuild): AsyncGenerator<Buffer, void> {
  yield fileEntry(DOCKERFILE, 'file', Buffer.from(dockerfile));
  if (!files.some(({ path }) => path === IGNORE)) yield fileEntry(IGNORE, 'file', Buffer.from(`${DOCKERFILE}\n${IGNORE}\n`));
  let at = 0;
  for await (const content of contents()) {
    const file = files[at++];
    if (file === undefined) break;
    const added = file.path === IGNORE ? Buffer.from(`\n${DOCKERFILE}\n`) : Buffer.alloc(0);
    yield fileEntry(file.path, file.kind, Buffer.concat([content, added]));
  }
  yield archiveEnd();
}

/** Passes lines on, remembers the last ones, and ends a build that prints without end. */
const createLines = (progress: (line: string) => void, over: AbortController, watch: BuildWatch) => {
  const tail: string[] = [];
  let bytes = 0;
  return {
    take: (line: string): void => {
      bytes += line.length;
      if (bytes > BUILD_OUTPUT_BYTES) over.abort(tooMuch(`It printed more than ${BUILD_OUTPUT_BYTES} bytes.`));
      if (over.signal.aborted) return;
      watch.line(line);
      tail.push(line);
      if (tail.length > BUILD_TAIL_LINES) tail.shift();
      progress(line);
    },
    tail: () => tail.join('\n'),
  };
};

const tooMuch = (what: string): OrreryError =>
  new OrreryError('limit_reached', `The image of the project was not built. ${what}`, {
    rule: 'Builds are bounded in what they print.',
  });

/** How a shell says that a program was ended since a file grew beyond its bound (128 and SIGXFSZ). */
const FILE_TOO_LARGE = /returned a non-zero code: 153\b/;

/** What a failure of the engine's means: a bound that was reached, or whatever it says. */
const meaningOf = async (thrown: unknown, { watch, bounds, tail }: Watched): Promise<OrreryError> => {
  const { message } = toOrreryError(thrown);
  const bound = FILE_TOO_LARGE.test(message) ? 'diskBytes' : await watch.reached();
  return bound === null ? failed(thrown, tail()) : boundReached(bound, bounds, `\n${message}\n${tail()}`);
};

type Watched = { readonly watch: BuildWatch; readonly bounds: BuildBounds; readonly tail: () => string };

const failed = (thrown: unknown, tail: string): OrreryError => {
  const { code, message, rule, fix } = toOrreryError(thrown);
  if (code !== 'backend_unavailable') return toOrreryError(thrown);
  const said = tail === '' ? message : `${message}\n${tail}`;
  return new OrreryError('backend_unavailable', `The image of the project could not be built. ${said}`, {
    rule: rule ?? 'It is built from the Dockerfile of the base commit, without a network unless the operator gives builds one.',
    fix: fix ?? undefined,
    cause: thrown,
  });
};

type Run = { readonly engine: Engine; readonly tag: string; readonly key: string; readonly build: ImageBuild };

/** One build from its beginning to its end; nothing of one that failed has the name. */
const run = async (parts: BuilderParts, { engine, tag, key, build }: Run, progress: (line: string) => void): Promise<void> => {
  const { options, installation, watchMs: everyMs = BUILD_WATCH_MS } = parts;
  const bounds = boundsOf(options);
  const over = new AbortController();
  const end = (bound: BuildBound): void => over.abort(boundReached(bound, bounds));
  const watch = watchBuild({ engine, installation, bounds, everyMs, end, refuse: (error) => over.abort(error) });
  const lines = createLines(progress, over, watch);
  const timer = setTimeout(() => end('timeMs'), bounds.timeMs);
  const label = `LABEL ${LABELS.installation}=${JSON.stringify(installation)}`;
  const archive = Readable.from(archiveOf(readDockerfile(build.dockerfile, build.args).withLabel(label), build));
  const signal = AbortSignal.any([over.signal, build.signal]);
  const request = {
    tag,
    dockerfile: DOCKERFILE,
    target: build.target,
    args: build.args,
    labels: { [LABELS.installation]: installation, [LABELS.build]: key },
    network: build.network,
    bounds,
  };
  try {
    await engine.build(archive, request, { progress: lines.take, signal });
  } catch (thrown) {
    if (signal.aborted) throw signal.reason;
    throw await meaningOf(thrown, { watch, bounds, tail: lines.tail });
  } finally {
    watch.stop();
    clearTimeout(timer);
    archive.destroy();
  }
};

/** What an engine has under the name, if it is what the name says. */
const finished = async (engine: Engine, { tag, key, installation }: { tag: string; key: string; installation: string }) => {
  const image = await engine.findImage(tag);
  const labels = image?.Config?.Labels;
  return labels?.[LABELS.build] === key && labels[LABELS.installation] === installation ? image : null;
};

/**
 * Throws `unsupported` for Podman. Its builder takes the machine's own network whatever it is told by this interface, and
 * programs of a build that is given up go on.
 */
const checkBuilder = (about: EngineAbout): void => {
  if (kindOf(about) === 'docker') return;
  throw new OrreryError('unsupported', `Images of projects are not built by ${describeEngine(about)}.`, {
    rule: 'Its builder neither closes the network of a build nor ends one that takes too long.',
    fix: 'Build it yourself (podman build), allow it (execution.allowedImages), and let the project name it: image in .orrery/orrery.yaml',
  });
};

/** Builds for one node in one engine: the same image once, whoever asks for it. */
export const createImageBuilder = (parts: BuilderParts): ImageBuilder => {
  const turns = createMutex();
  const { options, installation } = parts;
  return async (build, progress) => {
    const engine = await parts.engine();
    checkBuilder(await engine.about());
    const bases: string[] = [];
    for (const name of readDockerfile(build.dockerfile, build.args).bases)
      bases.push((await ensureImage(engine, { name, pull: options.pull }, progress)).Id);
    const key = buildKey(installation, build, bases);
    const tag = `${BUILD_REPOSITORY}:${key}`;
    return turns.run(key, async () => {
      build.signal.throwIfAborted();
      if ((await finished(engine, { tag, key, installation })) !== null) {
        progress(`The image ${tag} is there: it was built of the same.`);
        return tag;
      }
      progress(`Building the image ${tag}`);
      await run(parts, { engine, tag, key, build }, progress);
      const image = await finished(engine, { tag, key, installation });
      if (image === null)
        throw failed(new OrreryError('backend_unavailable', 'The engine says that it was, and has no such image.'), '');
      const bounds = boundsOf(options);
      if ((image.Size ?? 0) <= bounds.diskBytes) return tag;
      await engine.removeImage(tag);
      throw boundReached('diskBytes', bounds);
    });
  };
};

/**
 * Takes away what was built here, and what builds that did not end left. What a container is made of stays, and so does what
 * somebody gave another name. Answers the names.
 */
export const pruneImages = async ({
  engine: connect,
  installation,
}: Pick<BuilderParts, 'engine' | 'installation'>): Promise<string[]> => {
  const engine = await connect();
  const removed: string[] = [];
  // An image that another one is made of goes after that one.
  for (let again = true; again;) {
    again = false;
    for (const { id, labels, tags } of await engine.listImages(installation)) {
      if (labels[LABELS.installation] !== installation || labels[LABELS.environment] !== undefined) continue;
      const own = tags.filter((tag) => isBuiltName(tag.replace(/^(docker\.io\/library|docker\.io|localhost)\//, '')));
      if (own.length !== tags.length) continue;
      for (const name of own.length === 0 ? [id] : own) {
        if (!(await engine.removeImage(name))) continue;
        again = true;
        if (own.length > 0) removed.push(name);
      }
    }
  }
  return removed;
};
