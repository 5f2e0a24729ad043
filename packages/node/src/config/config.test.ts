import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OrreryError } from '@orrery/protocol/errors';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig, type ConfigChange, type ConfigParts } from './config.ts';

describe('the configuration of the node', () => {
  let directory = '';
  let file = '';
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'orrery-config-'));
    file = join(directory, 'config.yaml');
  });
  afterEach(() => rm(directory, { recursive: true }));

  const load = async (text: string | null, parts: Partial<ConfigParts> = {}) => {
    if (text !== null) await writeFile(file, text);
    return await loadConfig({ file, env: {}, ...parts });
  };
  const refusal = async (text: string, parts: Partial<ConfigParts> = {}): Promise<OrreryError> =>
    (await load(text, parts).catch((thrown: unknown) => thrown)) as OrreryError;

  it('needs no file: every key has a default', async () => {
    expect((await load(null)).current()).toMatchObject({
      listen: { host: '127.0.0.1', port: 4747 },
      execution: { backend: 'sandbox', options: {}, allowedBackends: null },
      egress: { allow: [], deny: [] },
      providers: {},
    });
  });

  it('is taken from the command line, then the environment, then the file, then the default, and says so for each key', async () => {
    const env = {
      ORRERY_QUEUE_PARALLEL: '7',
      ORRERY_QUEUE_PER_PROJECT: '',
      ORRERY_EGRESS_ALLOW: 'a.example, b.example',
      ORRERY_NAME: '12',
      ORRERY_QUEUE_RESUME_AFTER_RESTART: 'false',
      ORRERY_OTHER: 'x',
    };
    const config = await load('queue:\n  parallel: 5\n  perProject: 3\nname: from file\n', {
      env,
      flags: { 'queue.parallel': 9, 'listen.port': undefined },
    });
    expect(config.current().queue).toEqual({ parallel: 9, perProject: 3, resumeAfterRestart: false });
    expect([config.current().egress.allow, config.current().name]).toEqual([['a.example', 'b.example'], '12']);
    expect(config.explain('queue.parallel')).toEqual({
      key: 'queue.parallel',
      value: 9,
      origin: 'command line',
      shadows: [
        { origin: 'environment ORRERY_QUEUE_PARALLEL', value: 7 },
        { origin: `${file}:2`, value: 5 },
        { origin: 'default', value: 4 },
      ],
      restart: false,
      description: 'Tasks at once',
    });
    expect(config.explain('listen.port')).toMatchObject({ value: 4747, origin: 'default', shadows: [], restart: true });
  });

  it('reads JSON too, and an empty file', async () => {
    expect((await load('{"queue": {"parallel": 2}}')).current().queue.parallel).toBe(2);
    expect((await load('')).current().queue.parallel).toBe(4);
    expect((await load('# only a comment\n')).current().queue.parallel).toBe(4);
  });

  it('refuses keys that it does not know, with the line, the column and the key that was meant', async () => {
    const error = await refusal('queue:\n  paralel: 5\n');
    expect(error.toBody()).toEqual({
      code: 'unknown_key',
      message: `${file}:2:3: queue.paralel: no such key; did you mean "parallel"?`,
      rule: 'Only keys that are documented have a meaning; others are refused.',
      fix: 'Write "parallel" instead of "paralel".',
      retryable: false,
      details: { issues: [{ at: `${file}:2:3`, path: 'queue.paralel', problem: 'no such key; did you mean "parallel"?' }] },
    });
  });

  it('says the place of a wrong value and never the value', async () => {
    const error = await refusal('name: x\nproviders:\n  anthropic:\n    apiKey: sk-hunter2\n');
    expect(error.message).toContain(`${file}:4:5: providers.anthropic.apiKey: must be secret:<name>`);
    expect(JSON.stringify(error.toBody())).not.toContain('hunter2');
    expect((await refusal('queue: 5\n')).message).toContain(`${file}:1:1: queue: invalid input`);
    expect((await refusal('egress:\n  allow: [good.example, "http://bad"]\n')).message).toContain(
      `${file}:2:25: egress.allow[1]: must be a host`,
    );
    expect((await refusal('', { env: { ORRERY_LISTEN_PORT: 'secretword' } })).message).toBe(
      'The variable ORRERY_LISTEN_PORT is not a value of "listen.port".',
    );
  });

  it('says the place of what is not YAML', async () => {
    expect((await refusal('name: x\nname: y\n')).message).toBe(`${file}:2:1: the same key stands here a second time.`);
    const odd = 'a key is written out as a word, never as an alias or a list';
    expect((await refusal('&k name: x\n*k : y\n')).message).toBe(`${file}:2:1: ${odd}.`);
    expect((await refusal('execution: { ? [a] : b }\n')).message).toContain(`${file}:1:16: ${odd}`);
    expect((await refusal('a: [1, 2\nb: 3')).message).toMatch(/config\.yaml:2:\d+: this is not YAML/);
    expect((await refusal(`a: &a [x]\n${Array.from({ length: 60 }, (_, n) => `k${n}: *a`).join('\n')}`)).message).toContain(
      'refers to its own parts too often',
    );
    expect((await refusal(`name: ${'x'.repeat(1024 * 1024)}`)).message).toContain('too large');
  });

  it('refuses a default backend that is not allowed', async () => {
    expect(await refusal('execution: {backend: sandbox, allowedBackends: [landlock]}')).not.toBeInstanceOf(Error);
    expect((await refusal('execution: {backend: local, allowedBackends: [sandbox]}')).message).toContain('"local" is not among');
  });

  it('explains a key within a map, and names the keys of a group and of a mistake', async () => {
    const config = await load('providers:\n  anthropic:\n    apiKey: secret:work\n');
    expect(config.explain('providers.anthropic.apiKey')).toMatchObject({
      value: 'secret:work',
      origin: `${file}:3`,
      shadows: [],
    });
    expect(() => config.explain('queue')).toThrow('is a group of keys');
    expect(() => config.explain('queue.paralel')).toThrow(
      expect.objectContaining({ code: 'unknown_key', fix: 'orrery config explain queue.parallel' }),
    );
    expect(() => config.explain('nothing.like.it')).toThrow(
      expect.objectContaining({ code: 'unknown_key', fix: 'orrery config schema' }),
    );
  });

  it('explains what a project says, over the node', async () => {
    const config = await load('limits:\n  hookMs: 60000\n');
    const project = { text: 'limits:\n  hookMs: 30000\nbackend: sandbox\n', label: '.orrery/orrery.yaml' };
    expect(config.explain('limits.hookMs', project)).toMatchObject({
      value: 30_000,
      origin: '.orrery/orrery.yaml:2',
      shadows: [
        { origin: `${file}:2`, value: 60_000 },
        { origin: 'default', value: 900_000 },
      ],
    });
    expect(config.explain('backend', project)).toMatchObject({
      value: 'sandbox',
      origin: '.orrery/orrery.yaml:3',
      shadows: [{ origin: 'default', value: 'sandbox' }],
    });
    expect(config.explain('validation.maxRetries', project)).toMatchObject({ value: 3, origin: 'default' });
  });

  it('lists every key once as it explains it, those of a project too', async () => {
    const config = await load('limits:\n  hookMs: 60000\n');
    const project = { text: 'limits:\n  hookMs: 30000\nbackend: sandbox\n', label: '.orrery/orrery.yaml' };
    for (const file of [null, project]) {
      const listed = config.list(file);
      expect(new Set(listed.map(({ key }) => key)).size).toBe(listed.length);
      expect(listed).toEqual(listed.map(({ key }) => config.explain(key, file)));
      expect(listed.filter(({ description }) => description === '').map(({ key }) => key)).toEqual([]);
    }
    expect(config.list().filter(({ origin }) => origin !== 'default')).toMatchObject([{ key: 'limits.hookMs', value: 60_000 }]);
    expect(config.list(project).map(({ key }) => key)).toEqual(
      expect.arrayContaining(['backend', 'execution.backend', 'queue.parallel']),
    );
  });

  it('takes a change of the file, keeps the last good one when it is wrong, and says what needs a restart', async () => {
    const config = await load('queue: {parallel: 2}\n');
    await writeFile(file, 'queue: {paralel: 3}\n');
    await expect(config.reload()).rejects.toMatchObject({ code: 'unknown_key' });
    expect([config.current().queue.parallel, config.problem()?.code]).toEqual([2, 'unknown_key']);
    await writeFile(file, 'queue: {parallel: 3}\nlisten: {port: 1234}\n');
    expect(await config.reload()).toMatchObject({ changed: ['listen.port', 'queue.parallel'], needRestart: ['listen.port'] });
    expect([config.current().queue.parallel, config.problem()]).toEqual([3, null]);
  });

  it('watches the file, also when an editor replaces it', async () => {
    const config = await load('queue: {parallel: 2}\n', { watchMs: 10 });
    const seen: (ConfigChange | OrreryError)[] = [];
    let wake = (): void => undefined;
    const next = () =>
      new Promise<void>((resolve) => {
        wake = resolve;
      });
    const hear = (what: ConfigChange | OrreryError): void => {
      seen.push(what);
      wake();
    };
    const stop = config.watch({ change: hear, problem: hear });
    const first = next();
    await writeFile(`${file}.new`, 'queue: {parallel: 30}\n');
    await rename(`${file}.new`, file);
    await first;
    const second = next();
    await writeFile(file, 'queue: {parallel: wrong}\n');
    await second;
    stop();
    expect(seen).toMatchObject([{ changed: ['queue.parallel'] }, { code: 'config_invalid' }]);
    expect(config.current().queue.parallel).toBe(30);
  });
});
