// A plain command instead of an agent: an argv, the prompt on stdin, no model. For scripts, tests and measurements.

import { OrreryError } from '@orrery/protocol/errors';
import type { Harness, HarnessScreen, ScreenLaunch, TurnContext, TurnLaunch } from '../harness.ts';
import { readNotification } from '../screen-status.ts';
import { createCommandTranslator } from './translate.ts';

const run = (context: TurnContext): ScreenLaunch => {
  const [command, ...args] = context.command ?? [];
  if (command === undefined || command === '') {
    throw new OrreryError('empty_input', 'The harness command was given no command.', {
      rule: 'It runs what stands after the double dash.',
      fix: 'orrery run --harness command "the prompt" -- ./my-script.sh',
    });
  }
  return { command, args, env: {}, homeFiles: {}, programPaths: [] };
};

const launch = (context: TurnContext): TurnLaunch => ({
  ...run(context),
  input: new TextEncoder().encode(context.prompt),
  closeInput: 'after-input',
});

/** A command with a terminal: it tells nothing of itself but by a notification. */
const commandScreen: HarnessScreen = { launch: run, status: readNotification };

/** The adapter of a plain command. */
export const commandHarness: Harness = {
  id: 'command',
  summary: 'A plain command without a model',
  capabilities: {
    process: 'per-turn',
    resume: false,
    toolGate: 'none',
    usage: false,
    systemPrompt: false,
    models: false,
    effort: false,
  },
  screen: commandScreen,
  provider: null,
  defaultModel: null,
  pin: null,
  conversations: null,
  session: null,
  launch,
  translator: createCommandTranslator,
};
