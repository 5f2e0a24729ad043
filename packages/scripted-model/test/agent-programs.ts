/**
 * The pinned agent programs as they are started for one turn: the command line, the files in their HOME, the
 * environment. docs/decisions/010-agent-programs-on-the-wire.md says why each setting is there.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

export const PROGRAM_NAMES = ['claude', 'codex', 'pi'] as const;
export type ProgramName = (typeof PROGRAM_NAMES)[number];

/** The folder the programs were installed in: one folder each, with its own node_modules. */
export const PROGRAMS_ROOT = process.env['ORRERY_TEST_PROGRAMS'] ?? join(import.meta.dirname, '../../../.tools/programs');

/** The folders and addresses of one conversation. Every turn of it uses the same. */
export type TurnPlace = {
  readonly home: string;
  readonly tmp: string;
  readonly work: string;
  readonly tokenFile: string;
  /** `http://127.0.0.1:PORT`, without the provider's path. */
  readonly url: string;
  /** How long a model may say nothing before the program gives the call up; 5 minutes if absent. */
  readonly quietMs?: number;
};

/** What to start: argv[0] is an absolute path, the environment is complete, the prompt's bytes go to stdin. */
export type Start = { readonly argv: readonly string[]; readonly env: Readonly<Record<string, string>>; readonly stdin: string };

export type AgentProgram = {
  readonly name: ProgramName;
  readonly wire: string;
  /** The file that must be there for the program to be installed. */
  readonly file: string;
  /** Writes the program's settings into its HOME. */
  prepare(place: TurnPlace): void;
  /** One turn that ends with the process; `resume` is the id of the conversation to go on with. */
  turn(place: TurnPlace, turn: { readonly prompt: string; readonly resume?: string }): Start;
  /** The conversation's id out of the lines on stdout. */
  conversationId(lines: readonly Line[]): string | undefined;
};

/** One JSON line of a program. */
export type Line = Readonly<Record<string, unknown>>;

export function isInstalled(program: AgentProgram): boolean {
  return existsSync(program.file);
}

const claudeFile = join(PROGRAMS_ROOT, 'claude/node_modules/@anthropic-ai/claude-code-linux-x64/claude');
const codexFile = join(PROGRAMS_ROOT, 'codex/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex');
const piFile = join(PROGRAMS_ROOT, 'pi/node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js');

const claude: AgentProgram = {
  name: 'claude',
  wire: 'anthropic',
  file: claudeFile,
  prepare(place) {
    writeFileIn(place.home, '.orrery/claude-settings.json', JSON.stringify({ apiKeyHelper: `cat '${place.tokenFile}'` }));
  },
  turn(place, { prompt, resume }) {
    const settings = join(place.home, '.orrery/claude-settings.json');
    const argv = [
      claudeFile,
      '-p',
      '--input-format',
      'stream-json',
      '--output-format',
      'stream-json',
      '--verbose',
      '--replay-user-messages',
      '--dangerously-skip-permissions',
      '--setting-sources',
      'user',
      '--settings',
      settings,
      '--strict-mcp-config',
      '--disable-slash-commands',
      '--model',
      'claude-sonnet-4-5',
    ];
    const env = {
      ...commonEnv(place),
      ANTHROPIC_BASE_URL: `${place.url}/models/anthropic`,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_MAX_RETRIES: '1',
      DISABLE_AUTOUPDATER: '1',
      IS_SANDBOX: '1',
      CLAUDE_ENABLE_BYTE_WATCHDOG: '1',
      CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS: String(quietMs(place)),
      API_TIMEOUT_MS: String(quietMs(place)),
    };
    const line = {
      type: 'user',
      message: { role: 'user', content: [{ type: 'text', text: asText(prompt) }] },
      parent_tool_use_id: null,
    };
    return { argv: resume === undefined ? argv : [...argv, '--resume', resume], env, stdin: `${JSON.stringify(line)}\n` };
  },
  conversationId: (lines) =>
    textMember(
      lines.find((line) => line['type'] === 'system' && line['subtype'] === 'init'),
      'session_id',
    ),
};

const codex: AgentProgram = {
  name: 'codex',
  wire: 'responses',
  file: codexFile,
  prepare(place) {
    writeFileIn(
      place.home,
      '.codex/config.toml',
      `model = "gpt-5.5"
model_provider = "orrery"
check_for_update_on_startup = false
approval_policy = "never"
sandbox_mode = "danger-full-access"

[features]
plugins = false

[analytics]
enabled = false

[model_providers.orrery]
name = "orrery"
base_url = "${place.url}/models/openai/v1"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
stream_idle_timeout_ms = ${quietMs(place)}

[model_providers.orrery.auth]
command = "cat"
args = ["${place.tokenFile}"]
`,
    );
  },
  turn(place, { prompt, resume }) {
    const tail = ['--json', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'];
    const argv = resume === undefined ? [codexFile, 'exec', ...tail, '-'] : [codexFile, 'exec', 'resume', ...tail, resume, '-'];
    return { argv, env: { ...commonEnv(place), CODEX_HOME: join(place.home, '.codex') }, stdin: prompt };
  },
  conversationId: (lines) =>
    textMember(
      lines.find((line) => line['type'] === 'thread.started'),
      'thread_id',
    ),
};

const pi: AgentProgram = {
  name: 'pi',
  wire: 'anthropic',
  file: piFile,
  prepare(place) {
    const models = [{ id: 'claude-sonnet-4-5', reasoning: true, contextWindow: 200_000, maxTokens: 8_000 }];
    const provider = {
      baseUrl: `${place.url}/models/anthropic`,
      api: 'anthropic-messages',
      apiKey: `!cat '${place.tokenFile}'`,
      models,
    };
    writeFileIn(place.home, '.pi/agent/models.json', JSON.stringify({ providers: { orrery: provider } }));
    writeFileIn(
      place.home,
      '.pi/agent/settings.json',
      JSON.stringify({
        httpIdleTimeoutMs: quietMs(place),
        retry: { maxRetries: 1, baseDelayMs: 1_000, provider: { maxRetries: 0 } },
      }),
    );
  },
  turn(place, { prompt, resume }) {
    const argv = [
      process.execPath,
      piFile,
      '--mode',
      'json',
      '-p',
      '--provider',
      'orrery',
      '--model',
      'claude-sonnet-4-5',
      '--no-extensions',
      '--no-approve',
      '--offline',
    ];
    return {
      argv: resume === undefined ? argv : [...argv, '--session', resume],
      env: { ...commonEnv(place), PI_OFFLINE: '1' },
      stdin: prompt,
    };
  },
  conversationId: (lines) =>
    textMember(
      lines.find((line) => line['type'] === 'session'),
      'id',
    ),
};

export const PROGRAMS: Readonly<Record<ProgramName, AgentProgram>> = { claude, codex, pi };

/** Claude Code takes a text that begins with "/help" as its own command, which never reaches the model. */
function asText(prompt: string): string {
  return prompt.startsWith('/') ? `\n${prompt}` : prompt;
}

function quietMs(place: TurnPlace): number {
  return place.quietMs ?? 300_000;
}

function commonEnv(place: TurnPlace): Record<string, string> {
  return { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: place.home, TMPDIR: place.tmp, LANG: 'C.UTF-8', TERM: 'dumb' };
}

function writeFileIn(home: string, path: string, content: string): void {
  const file = join(home, path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, content, { mode: 0o600 });
}

function textMember(line: Line | undefined, name: string): string | undefined {
  const value = line?.[name];
  return typeof value === 'string' ? value : undefined;
}
