// Codex, one process per turn: `codex exec --json`, prompt on stdin. Its own sandbox is off: it is in ours, and inside it
// its helper would fail with exit code 0.

import type { ConversationStore, Harness, TurnContext, TurnLaunch } from '../harness.ts';
import { MODEL_QUIET_MS } from '../limits.ts';
import { ownModel } from '../model-name.ts';
import { requireProgram } from '../program.ts';
import { createTranslator } from '../translator.ts';
import { codexPin } from './pin.ts';
import { codexDialect } from './translate.ts';

/** A model of its built-in catalogue: only those bring its patch tool and effort levels. */
const DEFAULT_MODEL = 'gpt-5.5';

/** JSON strings are TOML basic strings, except that TOML wants DEL escaped. */
const toml = (text: string): string => JSON.stringify(text).replaceAll('\u007f', '\\u007F');

const configFile = (context: TurnContext, model: string): string => `model = ${toml(model)}
model_provider = "orrery"
sandbox_mode = "danger-full-access"
approval_policy = "never"
check_for_update_on_startup = false
${context.effort === null ? '' : `model_reasoning_effort = ${toml(context.effort)}\n`}${context.systemPrompt === null ? '' : `developer_instructions = ${toml(context.systemPrompt)}\n`}
[features]
plugins = false

[analytics]
enabled = false

[model_providers.orrery]
name = "Orrery"
base_url = ${toml(`${context.brokerEndpoint}/models/openai/v1`)}
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
stream_idle_timeout_ms = ${context.modelQuietMs ?? MODEL_QUIET_MS}
supports_websockets = false

[model_providers.orrery.auth]
command = "cat"
args = [${toml(context.tokenFile)}]
`;

const launch = (context: TurnContext): TurnLaunch => {
  const program = requireProgram(context.program, 'codex');
  const model = context.model === null ? DEFAULT_MODEL : ownModel(context.model, { id: 'codex', provider: 'openai' });
  const resume = context.conversation === null ? [] : ['resume'];
  const conversation = context.conversation === null ? [] : [context.conversation];
  return {
    command: program.executable,
    args: [
      'exec',
      ...resume,
      '--json',
      '--skip-git-repo-check',
      '--dangerously-bypass-approvals-and-sandbox',
      ...conversation,
      '-',
    ],
    // Without this variable it would look for its files below the real user's home.
    env: { CODEX_HOME: `${context.home}/.codex` },
    homeFiles: { '.codex/config.toml': configFile(context, model) },
    input: new TextEncoder().encode(context.prompt),
    closeInput: 'after-input',
    programPaths: [program.directory],
  };
};

/** `<year>/<month>/<day>/rollout-<instant>-<conversation>.jsonl`; where it works is said anew at each start. */
const conversations: ConversationStore = {
  folder: '.codex/sessions',
  holds: (path, conversation) => path.endsWith(`-${conversation}.jsonl`),
  placed: (file) => file,
};

/** The adapter of Codex. */
export const codexHarness: Harness = {
  id: 'codex',
  summary: 'Codex of OpenAI',
  capabilities: {
    process: 'per-turn',
    resume: true,
    toolGate: 'none',
    usage: false,
    systemPrompt: true,
    models: true,
    effort: true,
  },
  provider: 'openai',
  defaultModel: DEFAULT_MODEL,
  pin: codexPin,
  conversations,
  session: null,
  launch,
  translator: (from) => createTranslator(codexDialect, from),
};
