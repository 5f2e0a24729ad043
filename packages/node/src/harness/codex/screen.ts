// The full screen of Codex. It tells its state by the program status protocol.

import type { HarnessScreen, ScreenLaunch, TurnContext } from '../harness.ts';
import { requireProgram } from '../program.ts';
import { readProgramStatus } from '../screen-status.ts';
import { codexModel, configFile, toml } from './launch.ts';

/**
 * At its first start it asks whether the folder is trusted, and from one that is it takes orders: servers, hooks, notifications.
 * It is told yes where there are none. Where there are, it asks the person at the screen, who can open it without them.
 */
const trusting = 'if [ -e .codex ] || [ -h .codex ]; then exec "$0" "$@"; else exec "$0" -c "$ORRERY_TRUSTS" "$@"; fi';

/** Models of this version that it offers to replace at the start, and by which: answered here, with the model as it was asked for. */
const offered = [
  ['gpt-5.5', 'gpt-6-sol'],
  ['gpt-5.6-sol', 'gpt-6-sol'],
  ['gpt-5.6-terra', 'gpt-6-sol'],
  ['gpt-5.6-luna', 'gpt-6-luna'],
] as const;

/** Its other questions at a first start: full access, other models. */
const answers = `
[tui]
show_tooltips = false

[tui.model_availability_nux]
"gpt-6.1-sol" = 100

[notice]
hide_full_access_warning = true
hide_rate_limit_model_nudge = true

[notice.model_migrations]
${offered.map(([from, to]) => `${toml(from)} = ${toml(to)}`).join('\n')}
`;

const launch = (context: TurnContext): ScreenLaunch => {
  const program = requireProgram(context.program, 'codex');
  return {
    command: '/bin/sh',
    args: [
      ...['-c', trusting, program.executable],
      ...(context.conversation === null ? [] : ['resume', context.conversation]),
      '--dangerously-bypass-approvals-and-sandbox',
      // Its server in the background would outlive it, and listens on a Unix socket.
      '--no-daemon',
      ...(context.prompt === '' ? [] : ['--', context.prompt]),
    ],
    env: {
      CODEX_HOME: `${context.home}/.codex`,
      ORRERY_TRUSTS: `projects={${toml(context.workdir)}={trust_level="trusted"}}`,
    },
    homeFiles: { '.codex/config.toml': `${configFile(context, codexModel(context))}${answers}` },
    programPaths: [program.directory],
  };
};

export const codexScreen: HarnessScreen = { launch, status: readProgramStatus };
