// The full screen of Claude Code. What it waits for is told by its own hooks: each answers with a control string that it
// prints, so that the word stands in the output where it belongs.

import type { HarnessScreen, ScreenLaunch, TurnContext } from '../harness.ts';
import type { TerminalWord } from '../osc.ts';
import { requireProgram } from '../program.ts';
import type { ScreenStatus } from '../screen-status.ts';
import { claudePin } from './pin.ts';
import { skillsPlugin } from './plugin.ts';
import { claudeChoices, claudeEnvironment, claudeSettings } from './launch.ts';

/** Control strings of hooks are printed when they are of a known kind: this one is a notification. */
const WORD = '777;notify;orrery-status;';

const told = ['working', 'blocked', 'done', 'failed', 'idle'] as const satisfies readonly ScreenStatus[];

const saying = (status: (typeof told)[number], matcher?: string) => ({
  ...(matcher === undefined ? {} : { matcher }),
  hooks: [{ type: 'command', command: `printf '%s' '${JSON.stringify({ terminalSequence: `\u001b]${WORD}${status}\u0007` })}'` }],
});

/** Tools that ask the person. */
const ASKS = 'AskUserQuestion|ExitPlanMode';

const hooks = {
  SessionStart: [saying('idle')],
  UserPromptSubmit: [saying('working')],
  PreToolUse: [saying('blocked', ASKS)],
  PostToolUse: [saying('working', ASKS)],
  Notification: [saying('blocked', 'permission_prompt|elicitation_dialog')],
  Stop: [saying('done')],
  StopFailure: [saying('failed')],
};

/** Its questions at a first start are answered here: theme, login, trust in the folder, and skipping of permissions. */
const stateFile = (context: TurnContext): string =>
  JSON.stringify({
    hasCompletedOnboarding: true,
    lastOnboardingVersion: claudePin.version,
    bypassPermissionsModeAccepted: true,
    theme: 'auto',
    projects: { [context.workdir]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
  });

const launch = (context: TurnContext): ScreenLaunch => {
  const program = requireProgram(context.program, 'claude');
  const settings = { ...claudeSettings(context), skipDangerousModePermissionPrompt: true, hooks };
  return {
    command: program.executable,
    args: [
      ...['--settings', JSON.stringify(settings)],
      '--dangerously-skip-permissions',
      ...claudeChoices(context),
      ...(context.prompt === '' ? [] : ['--', context.prompt]),
    ],
    env: claudeEnvironment(context),
    homeFiles: { '.claude.json': stateFile(context), ...skillsPlugin(context) },
    programPaths: [program.directory],
  };
};

const status = (word: TerminalWord): ScreenStatus | null =>
  word.kind === 'osc' && word.text.startsWith(WORD) ? (told.find((one) => one === word.text.slice(WORD.length)) ?? null) : null;

export const claudeScreen: HarnessScreen = { launch, status };
