// Claude Code, one process per turn: `claude -p` with its JSON lines. It is given the run token by a command that reads a
// file, the gateway as its provider, and no settings of the repository.

import type { ConversationStore, Harness, TurnContext, TurnLaunch } from '../harness.ts';
import { MODEL_QUIET_MS } from '../limits.ts';
import { ownModel } from '../model-name.ts';
import { requireProgram } from '../program.ts';
import { createTranslator } from '../translator.ts';
import { claudePin } from './pin.ts';
import { claudeDialect } from './translate.ts';

/** Its own retries of one model call; the default would wait for minutes. */
const MAX_RETRIES = '1';

const launch = (context: TurnContext): TurnLaunch => {
  const program = requireProgram(context.program, 'claude');
  const quietMs = String(context.modelQuietMs ?? MODEL_QUIET_MS);
  const args = [
    '-p',
    ...['--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose', '--replay-user-messages'],
    '--dangerously-skip-permissions',
    ...['--settings', JSON.stringify({ apiKeyHelper: `cat ${shellWord(context.tokenFile)}` })],
    '--disable-slash-commands',
    // The repository's own settings and MCP servers are opt-in.
    ...['--setting-sources', 'user', '--strict-mcp-config'],
    ...(context.model === null ? [] : ['--model', ownModel(context.model, { id: 'claude', provider: 'anthropic' })]),
    ...(context.effort === null ? [] : ['--effort', context.effort]),
    ...(context.systemPrompt === null ? [] : ['--append-system-prompt', context.systemPrompt]),
    ...(context.conversation === null ? [] : ['--resume', context.conversation]),
  ];
  return {
    command: program.executable,
    args,
    env: {
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
    },
    homeFiles: {},
    input: new TextEncoder().encode(`${JSON.stringify(userLine(asText(context.prompt)))}\n`),
    closeInput: 'after-input',
    programPaths: [program.directory],
  };
};

/** A prompt that begins with a slash and the name of a command would be run as one, or be dropped: after a space it is text. */
const asText = (prompt: string): string => (prompt.startsWith('/') ? ` ${prompt}` : prompt);

const userLine = (prompt: string) => ({
  type: 'user',
  message: { role: 'user', content: [{ type: 'text', text: prompt }] },
  parent_tool_use_id: null,
});

const shellWord = (path: string): string => `'${path.replaceAll("'", `'\\''`)}'`;

/** `<working directory, other signs as dashes>/<conversation>.jsonl`, and a folder of that name for what its tools left. */
const conversations: ConversationStore = {
  folder: '.claude/projects',
  holds: (path, conversation) => {
    const [, name = ''] = path.split('/');
    return name === `${conversation}.jsonl` || name === conversation;
  },
  placed: ({ path, content }, workdir) => ({
    path: [workdir.replace(/[^a-zA-Z0-9]/g, '-'), ...path.split('/').slice(1)].join('/'),
    content,
  }),
};

/** The adapter of Claude Code. */
export const claudeHarness: Harness = {
  id: 'claude',
  summary: 'Claude Code of Anthropic',
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
  defaultModel: null,
  pin: claudePin,
  conversations,
  launch,
  translator: (from) => createTranslator(claudeDialect, from),
};
