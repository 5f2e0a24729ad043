import { describe, expect, it } from 'vitest';
import { covers, isEgressRule } from './egress-cover.ts';
import { nodeSchema } from './node-schema.ts';
import { defaultRetryPrompt, parseProjectFile } from './project-schema.ts';
import { pinOf } from './settle-image.ts';
import { settleTask } from './settle.ts';

const settle = ({
  request = {},
  project = '',
  node = {},
  pin = null,
}: {
  request?: Parameters<typeof settleTask>[0]['request'];
  project?: string;
  node?: object;
  pin?: string | null;
}) => settleTask({ request, project: parseProjectFile(project), node: nodeSchema.parse(node), pin });
const refusal = (given: Parameters<typeof settle>[0]): unknown => {
  try {
    settle(given);
    return null;
  } catch (thrown) {
    const { code, message, details } = thrown as { code: string; message: string; details: unknown };
    return { code, message, details };
  }
};

describe('what a task runs with', () => {
  it('is the default of the node when nobody says anything', () => {
    expect(settle({})).toEqual({
      harness: 'claude',
      model: null,
      effort: null,
      backend: 'sandbox',
      base: null,
      maxRetries: 3,
      retryPrompt: defaultRetryPrompt,
      egress: [],
      ports: [],
      wallMs: 14_400_000,
      hookMs: 900_000,
      turnMs: 3_600_000,
      cpuSeconds: null,
      memoryBytes: null,
      processes: null,
      outputBytes: 1_073_741_824,
      diskBytes: null,
      image: null,
      copy: [],
      cache: [],
      submodules: 'none',
      lfs: 'pointers',
      setup: [],
      memory: [],
    });
  });

  it('has the image of the project only when the operator allows it: a whole name, or the beginning before a star', () => {
    const project = 'image: ghcr.io/us/agent:2\n';
    const allowing = (...allowedImages: string[]) => ({ project, node: { execution: { allowedImages } } });
    expect(settle(allowing('ghcr.io/us/agent:2')).image).toBe('ghcr.io/us/agent:2');
    expect(settle(allowing('other', 'ghcr.io/us/*')).image).toBe('ghcr.io/us/agent:2');
    for (const refused of [allowing(), allowing('ghcr.io/us/agent'), allowing('ghcr.io/them/*')])
      expect(refusal(refused)).toMatchObject({ code: 'widening_refused', details: { key: 'image' } });
    expect(refusal(allowing('a', 'b'))).toMatchObject({ message: expect.stringContaining('ghcr.io/us/agent:2') as unknown });
  });

  it('has the image of the request before the one of the project, by the same list', () => {
    const project = 'image: ghcr.io/us/agent:2\n';
    const node = { execution: { allowedImages: ['ghcr.io/us/*'] } };
    const request = { image: 'ghcr.io/us/other:1' };
    expect(settle({ request, project, node })).toMatchObject({ image: 'ghcr.io/us/other:1' });
    expect(settle({ request, project: 'build: {}\n', node }).imageFrom).toBeUndefined();
    const devcontainer = settle({ request, project: 'devcontainer: true\n', node });
    expect(devcontainer).toMatchObject({
      image: 'ghcr.io/us/other:1',
      imageFrom: { devcontainer: '.devcontainer/devcontainer.json', image: 'ghcr.io/us/other:1' },
    });
    expect(refusal({ request: { image: 'debian:12' }, project, node })).toMatchObject({
      code: 'widening_refused',
      message: expect.stringContaining('The request asks for the image "debian:12"') as unknown,
    });
  });

  it('has the image that the operator pinned for the project, whatever its file says; a request for another one is refused', () => {
    const node = { execution: { projectImages: { site: 'pinned:1', prj_2: 'pinned:2' } } };
    const pinFor = (id: string, name: string) => pinOf(nodeSchema.parse(node), { id, name });
    expect([pinFor('prj_1', 'site'), pinFor('prj_2', 'other'), pinFor('prj_3', 'toString')]).toEqual([
      'pinned:1',
      'pinned:2',
      null,
    ]);
    const pin = 'pinned:1';
    for (const project of ['', 'image: not-allowed\n', 'build: {}\n'])
      expect(settle({ project, node, pin })).toMatchObject({ image: pin });
    expect(settle({ request: { image: pin }, node, pin }).image).toBe(pin);
    expect(refusal({ request: { image: 'other' }, node, pin })).toMatchObject({
      code: 'widening_refused',
      details: { key: 'image' },
    });
  });

  it('asks for what is built only when the operator lets images be built, and says by one key which image it is', () => {
    const node = { execution: { allowBuild: true } };
    const asked = { dockerfile: 'Dockerfile', context: '.', target: null, args: {} };
    expect(settle({ node, project: 'build: {}\n' })).toMatchObject({ image: null, imageFrom: asked });
    expect(settle({ node, project: 'build: {dockerfile: a/D, target: dev}\n' }).imageFrom).toEqual({
      ...asked,
      dockerfile: 'a/D',
      target: 'dev',
    });
    expect(refusal({ project: 'build: {}\n' })).toMatchObject({ code: 'widening_refused', details: { key: 'build' } });
    // What such a file asks for is known, and refused, when it is read.
    expect(settle({ project: 'devcontainer: true\n' }).imageFrom).toEqual({ devcontainer: '.devcontainer/devcontainer.json' });
    expect(settle({ project: 'devcontainer: dev.json\n' }).imageFrom).toEqual({ devcontainer: 'dev.json' });
    expect(settle({ project: 'devcontainer: false\n' }).imageFrom).toBeUndefined();
    for (const two of ['image: a\nbuild: {}\n', 'build: {}\ndevcontainer: true\n'])
      expect(refusal({ node, project: two })).toMatchObject({ code: 'config_invalid' });
    for (const out of ['build: {dockerfile: ../D}\n', 'build: {context: /etc}\n', 'devcontainer: /etc/passwd\n'])
      expect(refusal({ node, project: out })).toMatchObject({ code: 'config_invalid' });
  });

  it('has the memories of the request, else of the project, else all that the operator gives, and none beyond', () => {
    const node = { memory: ['project', 'global'] };
    expect(settle({ node }).memory).toEqual(['project', 'global']);
    expect(settle({ node, project: 'memory: [project]\n' }).memory).toEqual(['project']);
    expect(settle({ node, project: 'memory: [project]\n', request: { memory: [] } }).memory).toEqual([]);
    for (const beyond of [{ project: 'memory: [agent]\n' }, { request: { memory: ['agent' as const] } }])
      expect(refusal({ node, ...beyond })).toMatchObject({ code: 'widening_refused', details: { key: 'memory' } });
  });

  it('is the request over the project over the node', () => {
    const project =
      'harness: pi\nmodel: m\nbase: develop\nlimits: {hookMs: 5000, processes: 64}\nvalidation: {maxRetries: 1, retryPrompt: "again: {{validation_output}}"}\negress: [a.example]\n';
    const request = { base: 'main', maxRetries: 0, limits: { hookMs: 6_000 }, egress: ['b.example'] };
    expect(settle({ request, project, node: { egress: { allow: ['a.example', 'b.example'] } } })).toMatchObject({
      harness: 'pi',
      model: 'm',
      base: 'main',
      maxRetries: 0,
      retryPrompt: 'again: {{validation_output}}',
      hookMs: 6_000,
      processes: 64,
      egress: ['a.example', 'b.example'],
    });
  });

  it('does not give the model of one program to another', () => {
    expect(settle({ request: { harness: 'codex' }, project: 'harness: pi\nmodel: m\neffort: high\n' })).toMatchObject({
      harness: 'codex',
      model: null,
      effort: null,
    });
    expect(settle({ request: { harness: 'pi' }, project: 'harness: pi\nmodel: m\n' })).toMatchObject({ model: 'm' });
  });

  it('is never less protected because a file of the repository says so', () => {
    expect(refusal({ project: 'backend: local\n' })).toEqual({
      code: 'widening_refused',
      message: 'The project file asks for the backend "local".',
      details: { key: 'backend' },
    });
    expect(settle({ request: { backend: 'local' } }).backend).toBe('local');
    expect(settle({ project: 'backend: local\n', node: { execution: { allowedBackends: ['sandbox', 'local'] } } }).backend).toBe(
      'local',
    );
    const alias = { execution: { backend: 'sandbox', allowedBackends: ['landlock'] } };
    expect(settle({ project: 'backend: landrun\n', node: alias }).backend).toBe('landrun');
    expect(settle({ request: { backend: 'sandbox' }, node: alias }).backend).toBe('sandbox');
    expect(refusal({ request: { backend: 'local' }, node: { execution: { allowedBackends: ['sandbox'] } } })).toMatchObject({
      code: 'backend_forbidden',
    });
  });

  it('reaches no host and has no limit beyond what the operator allows, whoever asks', () => {
    expect(refusal({ project: 'egress: [evil.example]\n' })).toEqual({
      code: 'widening_refused',
      message: 'The project file asks to reach "evil.example".',
      details: { key: 'egress' },
    });
    expect(refusal({ request: { egress: ['evil.example'] }, node: { egress: { allow: ['good.example'] } } })).toMatchObject({
      code: 'widening_refused',
    });
    expect(refusal({ project: 'limits: {wallMs: 999999999}\n' })).toMatchObject({
      code: 'widening_refused',
      details: { key: 'limits.wallMs' },
    });
    expect(
      refusal({ request: { limits: { memoryBytes: 2_000_000_000 } }, node: { limits: { memoryBytes: 1_000_000_000 } } }),
    ).toMatchObject({ details: { key: 'limits.memoryBytes' } });
  });
});

describe('the project file', () => {
  it('refuses unknown keys and a retry prompt without the output, with their place', () => {
    expect(() => parseProjectFile('validation:\n  maxRetris: 2\n')).toThrow(
      '.orrery/orrery.yaml:2:3: validation.maxRetris: no such key; did you mean "maxRetries"?',
    );
    expect(() => parseProjectFile('validation:\n  retryPrompt: again\n')).toThrow('must hold {{validation_output}}');
  });
});

describe('egress rules', () => {
  it('cover what they open already, by host, subdomain and port', () => {
    const cases: [string, string, boolean][] = [
      ['a.example', 'a.example', true],
      ['a.example', 'A.Example', true],
      ['a.example', 'a.example:443', true],
      ['a.example', 'a.example:8080', false],
      ['a.example:443', 'a.example', false],
      ['*.example', 'a.b.example', true],
      ['*.example', '*.b.example', true],
      ['*.example', 'example', false],
      ['*.b.example', '*.example', false],
      ['a.example', '*.a.example', false],
      ['*.example', 'badexample', false],
      ['10.0.0.5:8080', '10.0.0.5:8080', true],
      ['*.5', '10.0.0.5', false],
      ['[::1]:80', '[::1]:80', true],
    ];
    expect(cases.map(([given, asked]) => covers(given, asked))).toEqual(cases.map(([, , expected]) => expected));
  });

  it('are hosts and nothing else', () => {
    expect(['a.example', '*.a.example:1', '10.0.0.1', '[::1]:1', '::1'].map(isEgressRule)).toEqual([
      true,
      true,
      true,
      true,
      true,
    ]);
    expect(['', '*', 'http://a', 'a/b', 'a:0', 'a:70000', '*.10.0.0.1', 'a b', '-a'].map(isEgressRule)).toEqual([
      false,
      false,
      false,
      false,
      false,
      false,
      false,
      false,
      false,
    ]);
  });
});
