// What a project's base commit asks for as its image, and what it may not have.
import { describe, expect, it } from 'vitest';
import type { ImageRules } from '../config/settle-image.ts';
import type { Backend } from '../exec/backend.ts';
import type { ImageBuild } from '../exec/image/build.ts';
import type { TreeFile } from '../git/committed-tree.ts';
import type { AttemptSettings } from './doors.ts';
import { settleProjectImage } from './project-image.ts';

type Files = Readonly<Record<string, string>>;

const given: ImageRules = { allowedImages: ['debian:*'], allowBuild: true, buildNetwork: false };

const question = (
  files: Files,
  over: { rules?: Partial<ImageRules>; settings?: Partial<AttemptSettings>; builds?: boolean } = {},
) => {
  const built: ImageBuild[] = [];
  const said: string[] = [];
  const treeFiles: TreeFile[] = Object.entries(files).map(([path, text]) => ({
    path,
    kind: text.startsWith('link:') ? 'link' : 'file',
    bytes: Buffer.byteLength(text),
    sha: path,
  }));
  const images: Backend['images'] = {
    build: async (build) => {
      built.push(build);
      return 'orrery-build:key';
    },
  };
  const backend = {
    name: over.builds === false ? 'kubernetes' : 'docker',
    ...(over.builds === false ? {} : { images }),
  } as Backend;
  const settings = { backend: backend.name, image: null, setup: ['own'], imageFrom: undefined, ...over.settings };
  const asked = {
    parts: {
      projects: {
        listTree: async (_: string, { folder }: { folder: string }) => {
          const below = folder === '.' ? '' : `${folder}/`;
          const found = treeFiles.filter(({ path }) => path.startsWith(below));
          return { files: found.map((file) => ({ ...file, path: file.path.slice(below.length) })), modules: [] };
        },
        readFiles: async function* (_: string, wanted: readonly TreeFile[]) {
          for (const { sha } of wanted) yield Buffer.from((files[sha] ?? '').replace(/^link:/, ''));
        },
      },
      imageRules: () => ({ ...given, ...over.rules }),
      backend: () => backend,
    },
    projectId: 'prj',
    baseSha: 'a'.repeat(40),
    settings: settings as unknown as AttemptSettings,
    signal: new AbortController().signal,
    progress: (line: string) => said.push(line),
  };
  const settle = () => settleProjectImage(asked as unknown as Parameters<typeof settleProjectImage>[0]);
  return { settle, built, said };
};

const build = (over: object = {}) => ({ imageFrom: { dockerfile: 'Dockerfile', context: '.', target: null, args: {}, ...over } });
const devcontainer = { imageFrom: { devcontainer: '.devcontainer/devcontainer.json' } };
const inFile = (text: object) => ({ '.devcontainer/devcontainer.json': JSON.stringify(text) });

describe('an image by a Dockerfile of the base commit', () => {
  const files = { Dockerfile: 'FROM debian:12', 'app/a': 'a', 'app/b': 'b', 'app/.dockerignore': 'b', other: 'o' };

  it('is built of its context alone, without what is left out', async () => {
    const { settle, built } = question(files, { settings: build({ context: './app/', args: { X: '1' } }) });
    expect(await settle()).toMatchObject({ image: 'orrery-build:key', setup: ['own'] });
    expect(
      built.map(({ files: of, network, args, dockerfile }) => ({ of: of.map(({ path }) => path), network, args, dockerfile })),
    ).toEqual([{ of: ['a', '.dockerignore'], network: false, args: { X: '1' }, dockerfile: 'FROM debian:12' }]);
  });

  it.each([
    ['widening_refused', 'the operator lets nothing be built', { rules: { allowBuild: false } }, files],
    ['widening_refused', 'its base is none of the operator’s list', {}, { Dockerfile: 'FROM alpine:3' }],
    ['widening_refused', 'an image it copies from is none', {}, { Dockerfile: 'FROM debian:12\nCOPY --from=alpine:3 /a /' }],
    ['unsupported', 'the backend builds none', { builds: false }, files],
    ['config_invalid', 'the commit has no such file', {}, {}],
    ['config_invalid', 'it is a link', {}, { Dockerfile: 'link:/etc/passwd' }],
    ['config_invalid', 'a link leads out of the context', {}, { ...files, out: 'link:../../etc/passwd' }],
    ['config_invalid', 'a link leads to the root', {}, { ...files, out: 'link:/etc/passwd' }],
    [
      'input_too_large',
      'the Dockerfile is one that nobody wrote',
      {},
      { Dockerfile: `FROM debian:12\n${'#'.repeat(2_000_000)}` },
    ],
  ])('is refused (%s) when %s', async (code, _, over, of) => {
    const { settle, built } = question(of as Files, { ...over, settings: build() });
    await expect(settle()).rejects.toMatchObject({ code });
    expect(built).toEqual([]);
  });

  it('follows links within the context', async () => {
    const { settle, built } = question({ ...files, 'app/link': 'link:../other' }, { settings: build() });
    await settle();
    expect(built).toHaveLength(1);
  });
});

describe('an image by a devcontainer.json of the base commit', () => {
  it('comes with variables, user, set-up before the project’s own, and says what has no part in it; asked again it is the same', async () => {
    const file = { image: 'debian:12', containerEnv: { A: '1' }, remoteUser: 'dev', onCreateCommand: 'first', forwardPorts: [1] };
    const { settle, said } = question(inFile(file), { settings: devcontainer });
    const settled = await settle();
    expect(settled).toMatchObject({ image: 'debian:12', variables: { A: '1' }, user: 'dev', setup: ['first', 'own'] });
    expect(said).toEqual(['.devcontainer/devcontainer.json: forwardPorts have no part in it.']);
    expect(await question(inFile(file), { settings: settled }).settle()).toEqual(settled);
  });

  it('has another image where somebody with more say names one: nothing is built and no list is asked; all else counts', async () => {
    const file = { build: { dockerfile: 'Dockerfile' }, containerEnv: { A: '1' }, onCreateCommand: 'first' };
    const imageFrom = { ...devcontainer.imageFrom, image: 'pinned:1' };
    const { settle, built } = question(inFile(file), { settings: { imageFrom }, rules: { allowBuild: false } });
    expect(await settle()).toMatchObject({ image: 'pinned:1', variables: { A: '1' }, setup: ['first', 'own'] });
    expect(built).toEqual([]);
  });

  it('that is only chosen needs no builder', async () => {
    const { settle } = question(inFile({ image: 'debian:12' }), {
      settings: devcontainer,
      builds: false,
      rules: { allowBuild: false },
    });
    expect(await settle()).toMatchObject({ image: 'debian:12' });
  });

  it.each([
    ['widening_refused', { image: 'alpine:3' }, {}],
    ['widening_refused', { image: 'debian:12', remoteUser: 'root' }, {}],
    ['widening_refused', { image: 'debian:12', containerUser: '0:0' }, {}],
    ['unsupported', { image: 'debian:12', remoteUser: 'dev' }, { builds: false }],
    ['unsupported', { build: { dockerfile: 'Dockerfile' } }, { builds: false }],
    ['widening_refused', { build: { dockerfile: 'Dockerfile' } }, { rules: { allowBuild: false } }],
    ['config_invalid', { image: 'debian:12', containerEnv: { LD_PRELOAD: '/x' } }, {}],
    ['config_invalid', { image: 'debian:12', containerEnv: { HOME: '/x' } }, {}],
    ['config_invalid', { image: 'debian:12', containerEnv: { https_proxy: 'x' } }, {}],
    ['config_invalid', { image: 'debian:12', containerEnv: { ORRERY_TASK: 'x' } }, {}],
  ])('is refused (%s): %j', async (code, file, over) => {
    const { settle } = question(
      { ...inFile(file), '.devcontainer/Dockerfile': 'FROM debian:12' },
      { settings: devcontainer, ...over },
    );
    await expect(settle()).rejects.toMatchObject({ code });
  });
});
