// The full screen of Pi. It tells its state by the program status protocol.

import type { HarnessScreen, ScreenLaunch, TurnContext } from '../harness.ts';
import { readProgramStatus } from '../screen-status.ts';
import { piLaunch } from './launch.ts';

/** An argument that begins with a dash is an option, with an at sign a file: after a space it is text. */
const asText = (prompt: string): string => (/^[-@]/.test(prompt) ? ` ${prompt}` : prompt);

const launch = (context: TurnContext): ScreenLaunch => {
  const start = piLaunch(context, []);
  return {
    ...start,
    args: [...start.args, ...(context.prompt === '' ? [] : [asText(context.prompt)])],
    env: { ...start.env, PI_PROGRAM_STATUS: '1' },
  };
};

export const piScreen: HarnessScreen = { launch, status: readProgramStatus };
