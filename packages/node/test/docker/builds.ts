// Builds out of files that a test writes down.
import { createHash } from 'node:crypto';
import { connectEngine } from '../../src/exec/docker/engine.ts';
import type { DockerOptions } from '../../src/exec/docker/options.ts';
import { createImageBuilder, pruneImages } from '../../src/exec/docker/image-builder.ts';
import type { ContextFile, ImageBuild } from '../../src/exec/image/build.ts';
import { SMALL_IMAGE } from './engine.ts';
import { sampleOptions } from './samples.ts';

/** Content by path; `link:` before it makes a link, `run:` a file that can be executed. */
export type Files = Readonly<Record<string, string>>;

const KINDS: Readonly<Record<string, ContextFile['kind']>> = { 'link:': 'link', 'run:': 'executable' };

const fileOf = ([path, written]: [string, string]) => {
  const mark = Object.keys(KINDS).find((one) => written.startsWith(one)) ?? '';
  const content = Buffer.from(written.slice(mark.length));
  const sha = createHash('sha1').update(content).digest('hex');
  return { content, file: { path, kind: KINDS[mark] ?? 'file', bytes: content.length, sha } satisfies ContextFile };
};

/** A build of a Dockerfile whose first line is the small image of the tests. */
export const sampleBuild = (lines: readonly string[], files: Files = {}, over: Partial<ImageBuild> = {}): ImageBuild => {
  const all = Object.entries(files).map(fileOf);
  return {
    dockerfile: [`FROM ${SMALL_IMAGE}`, ...lines].join('\n'),
    target: null,
    args: {},
    files: all.map(({ file }) => file),
    contents: async function* () {
      for (const { content } of all) yield content;
    },
    network: false,
    signal: new AbortController().signal,
    ...over,
  };
};

/** What builds images in the engine at a socket, for one installation. */
export const builderAt = (socket: string, installation: string, build: Partial<DockerOptions['build']> = {}) => {
  const engine = connectEngine(socket);
  const options = sampleOptions({ image: SMALL_IMAGE });
  const parts = {
    options: { ...options, build: { ...options.build, ...build } },
    installation,
    engine: () => engine,
    watchMs: 100,
  };
  return { build: createImageBuilder(parts), prune: () => pruneImages(parts) };
};
