// What every process of Claude Code is started with, for one turn or for a session.

import type { SessionContext, TurnContext } from '../harness.ts';
import { MODEL_QUIET_MS } from '../../kernel/model-limits.ts';
import { printHeader } from '../mcp.ts';
import { ownModel } from '../model-name.ts';
import { pluginArguments } from './plugin.ts';
import { saidText } from '../said.ts';

/** Its own retries of one model call; the default would wait for minutes. */
const MAX_RETRIES = '1';

type Common = Pick<TurnContext, keyof TurnContext & keyof SessionContext>;

/** Arguments that do not depend on what it is for. */
export const claudeArguments = (context: Common, { commands }: { readonly commands: boolean }): readonly string[] => [
  '-p',
  ...['--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose', '--replay-user-messages'],
  ...['--settings', JSON.stringify(claudeSettings(context))],
  // In a session its own commands can be chosen; in a task there is nobody to choose one. The switch takes skills away, too.
  ...(commands || context.skills != null ? [] : ['--disable-slash-commands']),
  ...claudeChoices(context),
];

/** Its settings: the run token is read from its file. */
export const claudeSettings = ({ tokenFile }: Common): Readonly<Record<string, unknown>> => ({
  apiKeyHelper: `cat ${shellWord(tokenFile)}`,
});

/** Arguments that are the same for its full screen. */
export const claudeChoices = (context: Common): readonly string[] => [
  // The repository's own settings and MCP servers are opt-in.
  ...['--setting-sources', 'user', '--strict-mcp-config'],
  ...(context.model === null ? [] : ['--model', ownModel(context.model, { id: 'claude', provider: 'anthropic' })]),
  ...(context.effort === null ? [] : ['--effort', context.effort]),
  ...(context.systemPrompt === null ? [] : ['--append-system-prompt', context.systemPrompt]),
  ...toolArguments(context),
  ...serverArguments(context),
  ...pluginArguments(context),
  ...(context.conversation === null ? [] : ['--resume', context.conversation]),
];

/** What is not there cannot be asked for: a list takes tools away before the model hears of them. */
const toolArguments = ({ tools = null }: Common): readonly string[] => [
  ...(tools?.allow == null ? [] : [`--tools=${tools.allow.join(',')}`]),
  ...(tools === null || tools.deny.length === 0 ? [] : [`--disallowedTools=${tools.deny.join(',')}`]),
];

/** Its servers; the run token for those of the broker is read from its file by a command. */
const serverArguments = ({ mcp = [], tokenFile }: Common): readonly string[] => {
  if (mcp.length === 0) return [];
  const servers = mcp.map((server) => {
    if ('url' in server) return [server.name, { type: 'http', url: server.url, headersHelper: printHeader(tokenFile) }] as const;
    const [command = '', ...args] = server.command;
    return [server.name, { type: 'stdio', command, args }] as const;
  });
  return ['--mcp-config', JSON.stringify({ mcpServers: Object.fromEntries(servers) })];
};

/** It begins a conversation of its own at a place of another one. */
export const branchArguments = ({ branch }: Pick<SessionContext, 'branch'>): readonly string[] =>
  branch === null
    ? []
    : [
        ...['--resume', branch.conversation, '--fork-session'],
        ...(branch.position === null ? [] : ['--resume-session-at', branch.position]),
      ];

export const claudeEnvironment = (context: Common): Readonly<Record<string, string>> => {
  const quietMs = String(context.modelQuietMs ?? MODEL_QUIET_MS);
  return {
    ANTHROPIC_BASE_URL: `${context.brokerEndpoint}/models/anthropic`,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_MAX_RETRIES: MAX_RETRIES,
    CLAUDE_ENABLE_BYTE_WATCHDOG: '1',
    CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS: quietMs,
    API_TIMEOUT_MS: quietMs,
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    // It refuses to skip its permission questions as root unless told that it is fenced in, which it is.
    ...(context.asRoot ? { IS_SANDBOX: '1' } : {}),
  };
};

/** One input. */
export const userLine = (prompt: string) => ({
  type: 'user',
  message: { role: 'user', content: [{ type: 'text', text: prompt }] },
  parent_tool_use_id: null,
});

const shellWord = (path: string): string => `'${path.replaceAll("'", `'\\''`)}'`;

/** Words of people as an input. */
export const saidLine = (text: string) => userLine(saidText(text));
