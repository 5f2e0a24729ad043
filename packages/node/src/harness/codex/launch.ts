// What every process of Codex is started with, for one turn or for a session. Its own sandbox is off: it is in ours, and
// inside it its helper would fail with exit code 0.

import type { SessionContext, TurnContext } from '../harness.ts';
import type { McpServer } from '../mcp.ts';
import { MODEL_QUIET_MS } from '../../kernel/model-limits.ts';
import { ownModel } from '../model-name.ts';

type Common = Pick<TurnContext, keyof TurnContext & keyof SessionContext>;

/** A model of its built-in catalogue: only those bring its patch tool and effort levels. */
export const DEFAULT_MODEL = 'gpt-5.5';

/** A text as TOML: JSON strings are TOML basic strings, except that TOML wants DEL escaped. */
export const toml = (text: string): string => JSON.stringify(text).replaceAll('\u007f', '\\u007F');

/** The model it is to use. */
export const codexModel = (context: Common): string =>
  context.model === null ? DEFAULT_MODEL : ownModel(context.model, { id: 'codex', provider: 'openai' });

/** Its settings; the key is read from the token's file by a command. What a repository brings for it (servers, hooks, notifications) is not loaded. */
export const configFile = (context: Common, model: string): string => `model = ${toml(model)}
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

[projects.${toml(context.workdir)}]
trust_level = "untrusted"
${(context.mcp ?? []).map(serverTable).join('')}`;

/** A server that is a command. */
const serverTable = (server: McpServer): string => {
  const [command = '', ...args] = 'command' in server ? server.command : [];
  return `\n[mcp_servers.${toml(server.name)}]\ncommand = ${toml(command)}\nargs = [${args.map(toml).join(', ')}]\n`;
};
