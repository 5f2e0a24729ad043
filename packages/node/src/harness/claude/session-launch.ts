// What a session's process of Claude Code is started with.

import type { PermissionMode } from '@orrery/protocol';
import type { SessionCapabilities, SessionContext, SessionLaunch } from '../harness.ts';
import { requireProgram } from '../program.ts';
import { skillsPlugin } from './plugin.ts';
import { branchArguments, claudeArguments, claudeEnvironment } from './launch.ts';

/** How the program calls a mode. `all` is given by the node, which answers each question itself: the program may be told otherwise at any time. */
export const modes: Readonly<Record<PermissionMode, string>> = {
  ask: 'default',
  edits: 'acceptEdits',
  all: 'default',
  plan: 'plan',
};

/** One process for many turns. */
export const claudeSessionLaunch = (context: SessionContext): SessionLaunch => {
  const program = requireProgram(context.program, 'claude');
  return {
    command: program.executable,
    args: [
      ...claudeArguments(context, { commands: true }),
      ...branchArguments(context),
      ...['--include-partial-messages', '--permission-prompt-tool', 'stdio', '--permission-mode', modes[context.mode]],
    ],
    env: { ...claudeEnvironment(context), CLAUDE_CODE_ENABLE_TODO_TOOLS: '1' },
    homeFiles: skillsPlugin(context),
    programPaths: [program.directory],
  };
};

/** What it can do in a session. */
export const claudeAbilities: SessionCapabilities = {
  steer: true,
  approvals: true,
  questions: true,
  modes: ['ask', 'edits', 'all', 'plan'],
  commands: true,
  models: true,
  fork: 'native',
  rewind: 'native',
  effort: true,
  images: true,
  files: true,
  plans: true,
  context: true,
  compaction: true,
  subAgents: true,
  backgroundTasks: true,
  toolGate: 'before',
  missing: {},
};
