// What every process of Pi is started with, for one turn or for a session.

import { dirname } from 'node:path';
import type { SessionContext, SessionLaunch, TurnContext } from '../harness.ts';
import { MODEL_QUIET_MS } from '../../kernel/model-limits.ts';
import { splitModel } from '../model-name.ts';
import { requireProgram } from '../program.ts';

type Common = Pick<TurnContext, keyof TurnContext & keyof SessionContext>;

/** What it runs with when nobody names a model. */
export const DEFAULT_MODEL = 'claude-sonnet-5-5';

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

const modelsFile = (context: Common, { provider, model }: { provider: string; model: string }): string => {
  const { api, path } = wireOf(provider);
  const entry = {
    baseUrl: `${context.brokerEndpoint}/models/${provider}${path}`,
    api,
    apiKey: `!cat '${context.tokenFile.replaceAll("'", `'\\''`)}'`,
    models: [{ id: model, reasoning: true, input: ['text', 'image'], contextWindow: 200_000, maxTokens: 32_000 }],
  };
  return JSON.stringify({ providers: { orrery: entry } });
};

const settingsFile = (context: Common): string =>
  JSON.stringify({
    httpIdleTimeoutMs: context.modelQuietMs ?? MODEL_QUIET_MS,
    retry: { maxRetries: 1, baseDelayMs: 1_000, maxAgentDelayMs: 10_000, provider: { maxRetries: 0, maxRetryDelayMs: 10_000 } },
    defaultProjectTrust: 'never',
  });

const piTools = ({ tools = null }: Common): readonly string[] => {
  if (tools === null) return [];
  const { allow, deny } = tools;
  return [
    ...(allow === null ? [] : allow.length === 0 ? ['--no-tools'] : ['--tools', allow.join(',')]),
    ...(deny.length === 0 ? [] : ['--exclude-tools', deny.join(',')]),
  ];
};

/** A process in one of its modes. */
export const piLaunch = (context: Common, mode: readonly string[]): SessionLaunch => {
  const program = requireProgram(context.program, 'pi');
  const chosen = splitModel(context.model ?? DEFAULT_MODEL, 'anthropic');
  return {
    command: program.node,
    args: [
      program.executable,
      ...mode,
      ...['--provider', 'orrery', '--model', chosen.model],
      // The repository's own extensions and settings are opt-in.
      ...['--no-extensions', '--no-approve', '--offline'],
      ...(context.effort === null ? [] : ['--thinking', context.effort]),
      // Words that are the name of a file there would be taken for that file.
      ...(context.systemPrompt === null ? [] : ['--append-system-prompt', `\n${context.systemPrompt}`]),
      ...piTools(context),
      ...(context.skills == null ? [] : ['--skill', context.skills]),
      ...(context.conversation === null ? [] : ['--session', context.conversation]),
    ],
    env: { PI_OFFLINE: '1', PI_TELEMETRY: '0', PI_SKIP_VERSION_CHECK: '1' },
    homeFiles: { '.pi/agent/models.json': modelsFile(context, chosen), '.pi/agent/settings.json': settingsFile(context) },
    programPaths: [program.directory, dirname(program.node)],
  };
};
