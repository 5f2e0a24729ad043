// Copilot CLI: `copilot --acp`, offline but for the model gateway. A command gives it the run token at each call.

import { acpHarness } from '../acp/harness.ts';
import { printToken } from '../acp/run-token.ts';
import type { SessionContext, SessionLaunch } from '../harness.ts';
import { splitModel } from '../model-name.ts';
import { requireProgram } from '../program.ts';
import { copilotPin } from './pin.ts';

const DEFAULT_MODEL = 'gpt-5.5';
const MODES = 'https://agentclientprotocol.com/protocol/session-modes';

/** How it speaks to a provider, and where its gateway path begins; one that is not named here speaks Chat Completions. */
const wireOf = (provider: string): { readonly type: string; readonly wire: string; readonly path: string } => {
  switch (provider) {
    case 'anthropic':
      return { type: 'anthropic', wire: 'completions', path: '' };
    case 'openai':
      return { type: 'openai', wire: 'responses', path: '/v1' };
    default:
      return { type: 'openai', wire: 'completions', path: '/v1' };
  }
};

/** The tools that the pinned version offers to a model. */
const copilotTools: readonly string[] = [
  ...['bash', 'read_bash', 'stop_bash', 'list_bash', 'apply_patch', 'view', 'skill', 'sql', 'read_agent', 'list_agents'],
  ...['write_agent', 'rg', 'glob', 'task'],
];

/** A list of what there is beats one of what there is not, and an empty one counts as none: so it is told one list, which says both. */
const toolArguments = ({ tools = null }: SessionContext): readonly string[] => {
  if (tools === null) return [];
  const { allow, deny } = tools;
  if (allow === null) return [`--excluded-tools=${deny.join(',')}`];
  const left = allow.filter((name) => !deny.includes(name));
  return [left.length === 0 ? `--excluded-tools=${copilotTools.join(',')}` : `--available-tools=${left.join(',')}`];
};

/** Its servers that are commands. */
const serverArguments = ({ mcp = [] }: SessionContext): readonly string[] => {
  if (mcp.length === 0) return [];
  const servers = mcp.map((server) => {
    const [command = '', ...args] = 'command' in server ? server.command : [];
    return [server.name, { type: 'local', command, args, tools: ['*'] }] as const;
  });
  return ['--additional-mcp-config', JSON.stringify({ mcpServers: Object.fromEntries(servers) })];
};

const launch = (context: SessionContext): SessionLaunch => {
  const program = requireProgram(context.program, 'copilot');
  const { provider, model } = splitModel(context.model ?? DEFAULT_MODEL, 'openai');
  const { type, wire, path } = wireOf(provider);
  return {
    command: program.executable,
    args: [
      '--acp',
      '--no-auto-update',
      '--disable-builtin-mcps',
      ...toolArguments(context),
      ...serverArguments(context),
      ...(context.effort === null ? [] : ['--reasoning-effort', context.effort]),
    ],
    env: {
      COPILOT_OFFLINE: 'true',
      COPILOT_AUTO_UPDATE: 'false',
      COPILOT_HOME: `${context.home}/.copilot`,
      COPILOT_PROVIDER_TYPE: type,
      COPILOT_PROVIDER_WIRE_API: wire,
      COPILOT_PROVIDER_BASE_URL: `${context.brokerEndpoint}/models/${provider}${path}`,
      COPILOT_PROVIDER_API_KEY_COMMAND: printToken(context.tokenFile),
      COPILOT_MODEL: model,
    },
    homeFiles: {},
    programPaths: [program.directory],
  };
};

/** The adapter of Copilot CLI. */
export const copilotHarness = acpHarness({
  id: 'copilot',
  summary: 'Copilot CLI of GitHub, on your own provider',
  provider: 'openai',
  defaultModel: DEFAULT_MODEL,
  pin: copilotPin,
  skills: () => '.copilot/skills',
  mcp: ['command'],
  tools: copilotTools,
  // Its setting against hooks does not hold over this protocol. Everything else of a repository it leaves alone in a folder that nobody trusts.
  orders: ['.github/hooks'],
  effort: true,
  launch,
  preset: {
    program: 'Copilot CLI',
    modes: { ask: [`${MODES}#agent`], plan: [`${MODES}#plan`] },
    hidesFailures: true,
    counts: 'conversation',
    logins: [],
    ownWords: /^Info: .*Retrying\.\.\.$/,
    quiet: [],
    choosesInSession: false,
    images: true,
    tellsContext: true,
    compact: '/compact',
    withheld: ['allow-all', 'autopilot', 'permissions', 'sandbox'],
  },
});
