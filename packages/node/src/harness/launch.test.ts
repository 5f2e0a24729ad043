import { describe, expect, it } from 'vitest';
import type { TurnContext } from './harness.ts';
import { builtinHarnesses, createHarnessRegistry } from './registry.ts';

const context: TurnContext = {
  program: { directory: '/programs/x/1', executable: '/programs/x/1/bin', version: '1', node: '/node' },
  prompt: '/fix "it"\n- and more',
  conversation: 'conv-1',
  model: null,
  effort: 'high',
  workdir: '/work',
  home: '/home',
  scratchpad: '/tmp-of-it',
  brokerEndpoint: 'http://127.0.0.1:7777',
  tokenFile: "/run/to'ken",
  systemPrompt: 'Be "brief".\nAlways.',
  command: ['true'],
  asRoot: true,
};
const registry = createHarnessRegistry();
/** Those that work through one prompt by themselves. */
const taskHarnesses = builtinHarnesses.filter(({ capabilities }) => capabilities.process === 'per-turn');
const spokenWith = builtinHarnesses.filter(({ capabilities }) => capabilities.process === 'stream');

describe('launches', () => {
  it.each(taskHarnesses.map(({ id }) => id))('%s: the prompt goes by stdin, never by argv', (id) => {
    const launch = registry.get(id).launch({ ...context, prompt: 'SECRET-PROMPT' });
    expect(new TextDecoder().decode(launch.input)).toContain('SECRET-PROMPT');
    expect(JSON.stringify([launch.args, launch.env, launch.homeFiles])).not.toContain('SECRET-PROMPT');
  });

  it.each(['claude', 'codex', 'pi'])('%s: is pointed at the gateway and reads its token from the file', (id) => {
    const { args, env, homeFiles } = registry.get(id).launch(context);
    const all = JSON.stringify([args, env, homeFiles]);
    expect(all).toContain('http://127.0.0.1:7777/models/');
    expect(all).toContain('/run/to');
    expect(args).toContain('conv-1');
  });

  it('claude takes the prompt as a line of JSON and skips its own permissions', () => {
    const launch = registry.get('claude').launch(context);
    expect(JSON.parse(new TextDecoder().decode(launch.input))).toEqual({
      type: 'user',
      message: { role: 'user', content: [{ type: 'text', text: ` ${context.prompt}` }] },
      parent_tool_use_id: null,
    });
    expect(launch.args).toContain("{\"apiKeyHelper\":\"cat '/run/to'\\\\''ken'\"}");
    expect(launch.env).toMatchObject({ IS_SANDBOX: '1', ANTHROPIC_BASE_URL: 'http://127.0.0.1:7777/models/anthropic' });
    expect(registry.get('claude').launch({ ...context, asRoot: false }).env).not.toHaveProperty('IS_SANDBOX');
  });

  it('codex is configured by a file without a secret', () => {
    const { homeFiles, args } = registry.get('codex').launch(context);
    expect(homeFiles['.codex/config.toml']).toContain('developer_instructions = "Be \\"brief\\".\\nAlways."');
    expect(homeFiles['.codex/config.toml']).toContain(`command = "cat"\nargs = ["/run/to'ken"]`);
    expect(args).toEqual([
      'exec',
      'resume',
      '--json',
      '--skip-git-repo-check',
      '--dangerously-bypass-approvals-and-sandbox',
      'conv-1',
      '-',
    ]);
  });

  it('pi takes the wire from the provider before the slash', () => {
    const models = (model: string) =>
      JSON.parse(registry.get('pi').launch({ ...context, model }).homeFiles['.pi/agent/models.json'] ?? '').providers.orrery;
    expect(models('claude-x')).toMatchObject({ api: 'anthropic-messages', baseUrl: 'http://127.0.0.1:7777/models/anthropic' });
    expect(models('openai/gpt-x')).toMatchObject({ api: 'openai-responses', baseUrl: 'http://127.0.0.1:7777/models/openai/v1' });
    expect(models('local/org/model')).toMatchObject({
      api: 'openai-completions',
      baseUrl: 'http://127.0.0.1:7777/models/local/v1',
      models: [{ id: 'org/model' }],
    });
  });

  it.each(['claude', 'codex', 'pi'])(
    '%s: its full screen takes the prompt last, asks nothing at the first start, holds no secret',
    (id) => {
      const { screen, launch } = registry.get(id);
      const { args, env, homeFiles } = screen!.launch({ ...context, prompt: '-it' });
      expect(args.at(-1)?.trim()).toBe('-it');
      expect(JSON.stringify([args, env, homeFiles])).toContain('http://127.0.0.1:7777/models/');
      expect(args).toContain('conv-1');
      const empty = screen!.launch({ ...context, prompt: '', conversation: null });
      expect(empty.args).not.toContain('');
      expect(empty.programPaths).toEqual(launch(context).programPaths);
      if (id !== 'pi') expect(JSON.stringify(empty.homeFiles)).toMatch(/\/work.*(untrusted|hasTrustDialogAccepted)/);
    },
  );

  it('refuses what it cannot do, with the way out', () => {
    expect(() => registry.get('claude').launch({ ...context, model: 'openai/gpt-x' })).toThrow(
      /cannot use the model openai\/gpt-x/,
    );
    expect(() => registry.get('pi').launch({ ...context, program: null })).toThrow(/not installed/);
    expect(() => registry.get('cluade')).toThrow(expect.objectContaining({ code: 'unknown_name', fix: 'Did you mean claude?' }));
  });

  it.each(spokenWith.map(({ id }) => id))(
    '%s: is pointed at the gateway in a session, and reads its token from the file',
    (id) => {
      const launch = registry.get(id).session!.launch({ ...context, mode: 'ask', branch: null });
      const all = JSON.stringify([launch.args, launch.env, launch.homeFiles]);
      expect(all).toContain('http://127.0.0.1:7777/models/');
      expect(all).toContain('/run/to');
      expect(launch.programPaths).toContain('/programs/x/1');
    },
  );

  it.each(spokenWith.map(({ id }) => id))('%s: is spoken with in a task too; the prompt is told when it is ready', (id) => {
    const launch = registry.get(id).launch({ ...context, prompt: 'SECRET-PROMPT' });
    expect([launch.input, launch.closeInput]).toEqual([null, 'when-settled']);
    expect(JSON.stringify([launch.args, launch.env, launch.homeFiles])).not.toContain('SECRET-PROMPT');
    const { speech } = registry.get(id).translator({ offset: 0, state: launch.begins! });
    expect(speech?.outbox().map(({ text }) => (JSON.parse(text) as { method: string }).method)).toEqual(['initialize']);
  });

  it.each(spokenWith.map(({ id }) => id))('%s: needs its program', (id) => {
    expect(() => registry.get(id).session!.launch({ ...context, program: null, mode: 'ask', branch: null })).toThrow(
      /is not installed/,
    );
  });
});
