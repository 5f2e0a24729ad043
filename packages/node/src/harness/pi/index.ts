// Pi, one process per turn: `pi --mode json -p`, prompt on stdin. It asks no permissions: every call runs in our sandbox.

import { dirname } from 'node:path';
import type { ConversationStore, Harness, TurnContext, TurnLaunch } from '../harness.ts';
import { MODEL_QUIET_MS } from '../limits.ts';
import { splitModel } from '../model-name.ts';
import { requireProgram } from '../program.ts';
import { createTranslator } from '../translator.ts';
import { piPin } from './pin.ts';
import { piDialect } from './translate.ts';

const DEFAULT_MODEL = 'claude-sonnet-5-5';

/** Where its gateway paths begin and which wire it speaks there; a provider not named here is taken to speak Chat Completions. */
const wireOf = (provider: string): { readonly api: string; readonly path: string } => {
  switch (provider) {
    case 'anthropic':
      return { api: 'anthropic-messages', path: '' };
    case 'openai':
      return { api: 'openai-responses', path: '/v1' };
    case 'google':
      return { api: 'google-generative-ai', path: '/v1beta' };
    default:
      return { api: 'openai-completions', path: '/v1' };
  }
};

const modelsFile = (context: TurnContext, { provider, model }: { provider: string; model: string }): string => {
  const { api, path } = wireOf(provider);
  const entry = {
    baseUrl: `${context.brokerEndpoint}/models/${provider}${path}`,
    api,
    apiKey: `!cat '${context.tokenFile.replaceAll("'", `'\\''`)}'`,
    models: [{ id: model, reasoning: true, contextWindow: 200_000, maxTokens: 32_000 }],
  };
  return JSON.stringify({ providers: { orrery: entry } });
};

const settingsFile = (context: TurnContext): string =>
  JSON.stringify({
    httpIdleTimeoutMs: context.modelQuietMs ?? MODEL_QUIET_MS,
    retry: { maxRetries: 1, baseDelayMs: 1_000, maxAgentDelayMs: 10_000, provider: { maxRetries: 0, maxRetryDelayMs: 10_000 } },
    defaultProjectTrust: 'never',
  });

const launch = (context: TurnContext): TurnLaunch => {
  const program = requireProgram(context.program, 'pi');
  const chosen = splitModel(context.model ?? DEFAULT_MODEL, 'anthropic');
  return {
    command: program.node,
    args: [
      program.executable,
      ...['--mode', 'json', '-p', '--provider', 'orrery', '--model', chosen.model],
      // The repository's own extensions and settings are opt-in.
      ...['--no-extensions', '--no-approve', '--offline'],
      ...(context.effort === null ? [] : ['--thinking', context.effort]),
      ...(context.systemPrompt === null ? [] : ['--append-system-prompt', context.systemPrompt]),
      ...(context.conversation === null ? [] : ['--session', context.conversation]),
    ],
    env: { PI_OFFLINE: '1', PI_TELEMETRY: '0', PI_SKIP_VERSION_CHECK: '1' },
    homeFiles: { '.pi/agent/models.json': modelsFile(context, chosen), '.pi/agent/settings.json': settingsFile(context) },
    input: new TextEncoder().encode(context.prompt),
    closeInput: 'after-input',
    programPaths: [program.directory, dirname(program.node)],
  };
};

/** The first line of a conversation says where it works, and another place is taken for another project. */
const movedTo = (content: Uint8Array, workdir: string): Uint8Array => {
  const end = content.indexOf(0x0a);
  const line = new TextDecoder().decode(content.subarray(0, end === -1 ? content.length : end));
  const header = parseHeader(line);
  if (header === null) return content;
  return Buffer.concat([
    Buffer.from(JSON.stringify({ ...header, cwd: workdir })),
    content.subarray(end === -1 ? content.length : end),
  ]);
};

const parseHeader = (line: string): object | null => {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
};

/** `--<working directory, slashes as dashes>--/<instant>_<conversation>.jsonl`. */
const conversations: ConversationStore = {
  folder: '.pi/agent/sessions',
  holds: (path, conversation) => path.endsWith(`_${conversation}.jsonl`),
  placed: ({ path, content }, workdir) => ({
    path: `--${workdir.replace(/^\//, '').replaceAll(/[/\\:]/g, '-')}--/${path.split('/').at(-1) ?? ''}`,
    content: movedTo(content, workdir),
  }),
};

/** The adapter of Pi. */
export const piHarness: Harness = {
  id: 'pi',
  summary: 'Pi, a small open agent that speaks to several providers',
  capabilities: {
    process: 'per-turn',
    resume: true,
    toolGate: 'none',
    usage: true,
    systemPrompt: true,
    models: true,
    effort: true,
  },
  provider: 'anthropic',
  defaultModel: DEFAULT_MODEL,
  pin: piPin,
  conversations,
  session: null,
  launch,
  translator: (from) => createTranslator(piDialect, from),
};
