// Gemini CLI: `gemini --acp`. It runs on Node.

import { dirname } from 'node:path';
import { acpHarness } from '../acp/harness.ts';
import { runTokenLoader } from '../acp/run-token.ts';
import type { SessionContext, SessionLaunch } from '../harness.ts';
import { ownModel } from '../model-name.ts';
import { requireProgram } from '../program.ts';
import { geminiPin } from './pin.ts';

const DEFAULT_MODEL = 'gemini-2.5-pro';

const settings = {
  // Without the type it takes the base URL alone for another kind of gateway. An untrusted folder gives no settings.
  security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: true } },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false, maxAttempts: 2 },
};

/** The tools that the pinned version offers to a model. */
const geminiTools: readonly string[] = [
  ...['update_topic', 'list_directory', 'read_file', 'grep_search', 'glob', 'replace', 'write_file', 'web_fetch'],
  ...['run_shell_command', 'list_background_processes', 'read_background_output', 'google_web_search', 'write_todos'],
  ...['enter_plan_mode', 'invoke_agent', 'activate_skill'],
];

/** Its lists: what is not in `core`, or is in `exclude`, is not offered and does not run. */
const toolSettings = ({ tools = null }: SessionContext): object => {
  if (tools === null) return {};
  const { allow, deny } = tools;
  return { tools: { ...(allow === null ? {} : { core: allow }), ...(deny.length === 0 ? {} : { exclude: deny }) } };
};

const launch = (context: SessionContext): SessionLaunch => {
  const program = requireProgram(context.program, 'gemini');
  const loader = runTokenLoader({ ...context, variable: 'GEMINI_API_KEY' });
  // Without a model it asks another one first which to take.
  const model = ownModel(context.model ?? DEFAULT_MODEL, { id: 'gemini', provider: 'google' });
  return {
    command: program.node,
    args: [...loader.args, program.executable, '--acp', '--model', model],
    env: {
      GOOGLE_GEMINI_BASE_URL: `${context.brokerEndpoint}/models/google`,
      // Else it starts itself again as a child that heeds no signal.
      GEMINI_CLI_NO_RELAUNCH: 'true',
    },
    homeFiles: { ...loader.homeFiles, '.gemini/settings.json': JSON.stringify({ ...settings, ...toolSettings(context) }) },
    programPaths: [program.directory, dirname(program.node)],
  };
};

const MINUTE_MS = 60_000;

/** Its record has the minute in its name: one that it takes up again in the minute of its beginning, it first writes over. */
const afterMinute = (begunMs: number): number => (Math.floor(begunMs / MINUTE_MS) + 1) * MINUTE_MS + 1_000;

/** The adapter of Gemini CLI. */
export const geminiHarness = acpHarness({
  id: 'gemini',
  summary: 'Gemini CLI of Google',
  provider: 'google',
  defaultModel: DEFAULT_MODEL,
  pin: geminiPin,
  tools: geminiTools,
  skills: () => '.gemini/skills',
  effort: false,
  launch,
  preset: {
    program: 'Gemini CLI',
    modes: { ask: ['default'], plan: ['plan'] },
    hidesFailures: false,
    counts: 'turn',
    takesUpFrom: afterMinute,
    tellsLate: true,
    logins: [],
    quietRetries: true,
    quiet: [],
    choosesInSession: false,
    images: true,
    tellsContext: false,
    compact: null,
  },
});
