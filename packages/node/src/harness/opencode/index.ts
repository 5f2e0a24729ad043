// OpenCode: `opencode acp`. It reads the run token from its file by itself.

import { acpHarness } from '../acp/harness.ts';
import type { SessionContext, SessionLaunch } from '../harness.ts';
import { splitModel } from '../model-name.ts';
import { requireProgram } from '../program.ts';
import { ownSkills } from '../skills.ts';
import { opencodePin } from './pin.ts';

const DEFAULT_MODEL = 'claude-sonnet-5-5';

/** The library that it speaks to a provider with, built in, and where its gateway path begins. */
const wireOf = (provider: string): { readonly npm: string; readonly path: string } => {
  switch (provider) {
    case 'anthropic':
      return { npm: '@ai-sdk/anthropic', path: '/v1' };
    case 'openai':
      return { npm: '@ai-sdk/openai', path: '/v1' };
    case 'google':
      return { npm: '@ai-sdk/google', path: '/v1beta' };
    default:
      return { npm: '@ai-sdk/openai-compatible', path: '/v1' };
  }
};

/** Its tools by the names that its rules have: `edit` is for all that write. */
const looking: readonly string[] = ['read', 'glob', 'grep', 'list', 'lsp', 'todoread', 'todowrite'];
const opencodeTools: readonly string[] = [
  ...looking,
  ...['edit', 'bash', 'task', 'webfetch', 'websearch', 'codesearch', 'skill', 'question'],
];

const rules = (rule: string, names: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(names.map((name) => [name, rule]));

/** It asks before everything but looking. What its agent's lists leave out is neither offered to a model nor run. */
const permissionOf = ({ skills, tools = null }: SessionContext): Readonly<Record<string, string>> => {
  const free = skills == null ? looking : [...looking, 'skill'];
  const asked = { '*': 'ask', ...rules('allow', free) };
  if (tools === null) return asked;
  const { allow, deny } = tools;
  if (allow === null) return { ...asked, ...rules('deny', deny) };
  const left = allow.filter((name) => !deny.includes(name));
  return {
    '*': 'deny',
    // No tools: where one may look, and whether it may go on repeating itself.
    ...rules('ask', ['external_directory', 'doom_loop', ...left]),
    ...rules(
      'allow',
      left.filter((name) => free.includes(name)),
    ),
  };
};

/** Without it an image is left out of what a model is asked, and the model is told so. A model that takes none says so itself. */
const sees = { attachment: true, modalities: { input: ['text', 'image'], output: ['text'] } };

const configFile = (context: SessionContext): string => {
  const { provider, model } = splitModel(context.model ?? DEFAULT_MODEL, 'anthropic');
  const { npm, path } = wireOf(provider);
  const options = { baseURL: `${context.brokerEndpoint}/models/${provider}${path}`, apiKey: `{file:${context.tokenFile}}` };
  const models = {
    [model]: { name: model, reasoning: true, tool_call: true, ...sees, limit: { context: 200_000, output: 32_000 } },
  };
  return JSON.stringify({
    autoupdate: false,
    share: 'disabled',
    model: `orrery/${model}`,
    small_model: `orrery/${model}`,
    enabled_providers: ['orrery'],
    permission: permissionOf(context),
    ...(context.skills == null ? {} : { skills: { paths: [context.skills] } }),
    ...((context.mcp ?? []).length === 0 ? {} : { mcp: serversOf(context) }),
    provider: { orrery: { npm, name: 'Orrery', options, models } },
  });
};

/** Its servers; it reads the run token for those of the broker from its file by itself. */
const serversOf = ({ mcp = [], tokenFile }: SessionContext): Readonly<Record<string, object>> =>
  Object.fromEntries(
    mcp.map((server) => {
      if ('command' in server) return [server.name, { type: 'local', command: server.command, enabled: true }] as const;
      const headers = { Authorization: `Bearer {file:${tokenFile}}` };
      return [server.name, { type: 'remote', url: server.url, oauth: false, headers, enabled: true }] as const;
    }),
  );

const launch = (context: SessionContext): SessionLaunch => {
  const program = requireProgram(context.program, 'opencode');
  return {
    command: program.executable,
    args: ['acp'],
    env: {
      XDG_CONFIG_HOME: `${context.home}/.config`,
      XDG_DATA_HOME: `${context.home}/.local/share`,
      XDG_STATE_HOME: `${context.home}/.local/state`,
      XDG_CACHE_HOME: `${context.home}/.cache`,
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
      // The repository's own settings are opt-in. Its plugins run all the same: see `orders`.
      OPENCODE_DISABLE_PROJECT_CONFIG: '1',
    },
    homeFiles: { '.config/opencode/opencode.json': configFile(context) },
    programPaths: [program.directory],
  };
};

/** The adapter of OpenCode. */
export const opencodeHarness = acpHarness({
  id: 'opencode',
  summary: 'OpenCode, an open agent for many providers',
  provider: 'anthropic',
  defaultModel: DEFAULT_MODEL,
  pin: opencodePin,
  skills: ownSkills,
  mcp: ['command', 'address'],
  tools: opencodeTools,
  // A second reader of settings heeds no switch: it loads plugins of this folder, and those that these files name.
  orders: ['.opencode', 'opencode.json', 'opencode.jsonc'],
  effort: true,
  launch,
  preset: {
    program: 'OpenCode',
    modes: { ask: ['build'], plan: ['plan'] },
    hidesFailures: false,
    counts: 'turn',
    logins: [],
    quietRetries: true,
    quiet: [],
    whyRecord:
      'A conversation that it forks into another folder stays bound to the old one: a fork begins a new one with a record of what was said.',
    choosesInSession: false,
    images: true,
    tellsContext: true,
    compact: null,
  },
});
