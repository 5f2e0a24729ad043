// What is read of a repository before an engine gets it: Dockerfile, .dockerignore, devcontainer.json.
import { describe, expect, it } from 'vitest';
import { readDevcontainer } from './devcontainer.ts';
import { createIgnore } from './dockerignore.ts';
import { readDockerfile } from './dockerfile.ts';

const bases = (text: string, args: Record<string, string> = {}) => readDockerfile(text, args).bases;
const refusal = (code: string) => expect.objectContaining({ code });

describe('a Dockerfile', () => {
  it('names every image that it begins with or copies from, not its own stages', () => {
    const text = `# syntax=docker/dockerfile:1
ARG BASE=debian:12
ARG OTHER
FROM \${BASE} AS Tools
# a comment
RUN echo a \\
  # within it

  && echo FROM nothing
FROM scratch as empty
from $OTHER
COPY --from=tools /a /b
COPY --from=1 /a /b
COPY --chown=1:1 --from=busybox:1 /a /b
FROM tools
ADD . /src
`;
    expect(bases(text, { OTHER: 'alpine:3' })).toEqual(['debian:12', 'alpine:3', 'busybox:1']);
  });

  it('gets a line after each FROM, wherever that ends', () => {
    const text = 'FROM \\\n  a:1\nRUN x\nFROM b';
    expect(readDockerfile(text, {}).withLabel('LABEL x=1')).toBe('FROM \\\n  a:1\nLABEL x=1\nRUN x\nFROM b\nLABEL x=1');
    expect(bases('FROM a\\\n:1')).toEqual(['a:1']);
  });

  it.each([
    ['an address', 'FROM a\nADD http://host/x /x'],
    ['an address in a list', 'FROM a\nADD ["https://host/x", "/x"]'],
    ['a repository', 'FROM a\nADD git@host:x.git /x'],
    ['a name that is not written out', 'FROM a\nARG U\nADD $U /x'],
    ['the same for images made of it', 'FROM a\nONBUILD ADD http://host/x /x'],
    ['over several lines', 'FROM a\nADD \\\n# more\nhttp://host/x /x'],
    ['mounts', 'FROM a\nRUN --mount=type=bind,from=b true'],
    ['a network', 'FROM a\nRUN --network=host true'],
    ['mounts of images made of it', 'FROM a\nONBUILD RUN --mount=type=secret true'],
    ['another escape character', '# escape=`\nFROM a'],
    ['two backslashes', 'FROM a\nRUN x \\\\\nADD http://host/x /x'],
    ['texts of several lines', 'FROM a\nCOPY <<EOF /x\nEOF'],
    ['scripts of several lines', 'FROM a\nRUN <<EOF\nEOF'],
    ['a platform', 'FROM --platform=linux/arm64 a'],
    ['an image without a name', 'ARG X\nFROM $X'],
    ['an image by more than a name', 'ARG X=a\nFROM ${X:-b}'],
    ['a copy by an argument', 'FROM a\nCOPY --from=$X /a /b'],
    ['an unknown instruction', 'FROM a\nINCLUDE b'],
    ['no image', 'ARG X=1'],
  ])('with %s is refused, with its line', (_, text) => {
    expect(() => bases(text)).toThrow(
      expect.objectContaining({ code: 'config_invalid', message: expect.stringMatching(/^Line \d+ /) }),
    );
  });
});

describe('.dockerignore', () => {
  it('leaves out as engines’ clients do: the last pattern that fits decides', () => {
    const out = createIgnore('# not\n/build\n*.log\n**/tmp\ndocs/**\n!docs/README.md\n[ab].txt\n!keep.log\n');
    const paths = [
      ...['build', 'build/x', 'a/build', 'x.log', 'a/x.log', 'keep.log', 'tmp/x', 'a/b/tmp/c'],
      ...['docs/a/b', 'docs/README.md', 'a.txt', 'c.txt', 'buildings'],
    ];
    expect(paths.filter(out)).toEqual(['build', 'build/x', 'x.log', 'tmp/x', 'a/b/tmp/c', 'docs/a/b', 'a.txt']);
  });

  it('of which there is none leaves out nothing; a star can be taken back', () => {
    expect(createIgnore('')('a')).toBe(false);
    const only = createIgnore('*\n!src');
    expect(['a', 'src/a/b', 'src'].map(only)).toEqual([true, false, false]);
  });
});

describe('devcontainer.json', () => {
  const at = '.devcontainer/devcontainer.json';
  const read = (given: object) => readDevcontainer(at, JSON.stringify(given));

  it('is read with comments and needless commas', () => {
    const text = `{ // one
      "image": "a:1", /* "privileged": true, */
      "containerEnv": { "URL": "http://x//y", },
      "remoteUser": "vscode",
    }`;
    expect(readDevcontainer(at, text)).toEqual({
      source: { image: 'a:1' },
      variables: { URL: 'http://x//y' },
      user: 'vscode',
      setup: [],
      unused: [],
    });
  });

  it('has a build with paths from its own folder, set-up in its order, and names what has no part in it', () => {
    const found = read({
      name: 'x',
      build: { dockerfile: 'Dockerfile', context: '..', target: 'dev', args: { A: '1' } },
      containerUser: '1001',
      postCreateCommand: { one: 'echo 1', two: ['echo', "it's"] },
      onCreateCommand: 'npm ci',
      mounts: [],
      privileged: false,
      forwardPorts: [3000],
      customizations: { vscode: {} },
      postStartCommand: 'x',
    });
    expect(found).toEqual({
      source: { dockerfile: '.devcontainer/Dockerfile', context: '.', target: 'dev', args: { A: '1' } },
      variables: {},
      user: '1001',
      setup: ['npm ci', 'echo 1', `'echo' 'it'\\''s'`],
      unused: ['forwardPorts', 'customizations', 'postStartCommand'],
    });
  });

  it.each([
    ['mounts', { mounts: ['source=/,target=/host,type=bind'] }],
    ['workspaceMount', { workspaceMount: 'source=/,target=/w,type=bind' }],
    ['runArgs', { runArgs: ['--privileged'] }],
    ['privileged', { privileged: true }],
    ['capAdd', { capAdd: ['SYS_ADMIN'] }],
    ['securityOpt', { securityOpt: ['seccomp=unconfined'] }],
    ['initializeCommand', { initializeCommand: 'touch /on-this-machine' }],
    ['dockerComposeFile', { dockerComposeFile: 'compose.yaml' }],
    ['build.options', { build: { dockerfile: 'D', options: ['--network=host'] } }],
  ])('that asks for %s is refused as widening', (key, given) => {
    expect(() => read({ image: 'a', ...given })).toThrow(
      expect.objectContaining({ code: 'widening_refused', message: expect.stringContaining(key) }),
    );
  });

  it('that cannot be had whole, or read, is refused', () => {
    expect(() => read({ image: 'a', features: { 'ghcr.io/x/y:1': {} } })).toThrow(refusal('unsupported'));
    for (const given of [{}, { build: {} }, { image: 1 }, { image: 'a', containerEnv: { X: '${localEnv:HOME}' } }])
      expect(() => read(given)).toThrow(refusal('config_invalid'));
    for (const dockerfile of ['../../D', '/etc/passwd'])
      expect(() => read({ build: { dockerfile } })).toThrow(refusal('config_invalid'));
    for (const text of ['', '[]', '{', 'null']) expect(() => readDevcontainer(at, text)).toThrow(refusal('config_invalid'));
  });
});
