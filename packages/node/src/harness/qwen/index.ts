// Qwen Code: `qwen --acp`. It runs on Node.

import { dirname } from 'node:path';
import { acpHarness } from '../acp/harness.ts';
import { runTokenLoader } from '../acp/run-token.ts';
import type { SessionContext, SessionLaunch } from '../harness.ts';
import { splitModel } from '../model-name.ts';
import { requireProgram } from '../program.ts';
import { qwenPin } from './pin.ts';

const DEFAULT_MODEL = 'gpt-5.5';
const TOKEN = 'ORRERY_RUN_TOKEN';

const settingsFile = (context: SessionContext, { provider, model }: { provider: string; model: string }): string => {
  const baseUrl = `${context.brokerEndpoint}/models/${provider}/v1`;
  const entry = { id: model, name: model, envKey: TOKEN, baseUrl, generationConfig: { maxRetries: 1 } };
  return JSON.stringify({
    modelProviders: { openai: [entry] },
    model: { name: model },
    // An untrusted folder gives no settings.
    security: { auth: { selectedType: 'openai' }, folderTrust: { enabled: true } },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    general: { enableAutoUpdate: false },
    // Model calls of its own beside the turn.
    ui: { enableFollowupSuggestions: false },
    memory: { enableManagedAutoMemory: false, enableManagedAutoDream: false },
  });
};

const launch = (context: SessionContext): SessionLaunch => {
  const program = requireProgram(context.program, 'qwen');
  const loader = runTokenLoader({ ...context, variable: TOKEN });
  const chosen = splitModel(context.model ?? DEFAULT_MODEL, 'openai');
  return {
    command: program.node,
    args: [
      ...loader.args,
      program.executable,
      ...['--acp', '--auth-type', 'openai', '--model', chosen.model],
      // Its own default asks a model whether to ask.
      ...['--approval-mode', context.mode === 'plan' ? 'plan' : 'default'],
    ],
    env: { QWEN_CODE_NO_RELAUNCH: 'true' },
    homeFiles: { ...loader.homeFiles, '.qwen/settings.json': settingsFile(context, chosen) },
    programPaths: [program.directory, dirname(program.node)],
  };
};

/** The adapter of Qwen Code. */
export const qwenHarness = acpHarness({
  id: 'qwen',
  summary: 'Qwen Code, for models behind Chat Completions',
  provider: 'openai',
  defaultModel: DEFAULT_MODEL,
  pin: qwenPin,
  skills: () => '.qwen/skills',
  effort: false,
  launch,
  preset: {
    program: 'Qwen Code',
    modes: { ask: ['default'], plan: ['plan'] },
    hidesFailures: true,
    counts: 'turn',
    logins: [],
    quietRetries: true,
    quiet: ['craft/drainMidTurnQueue', 'qwen/notify/session/prompt-suggestion'],
    choosesInSession: false,
    images: true,
    tellsContext: true,
    compact: '/compress',
  },
});
