// Claude Code, one process per turn: `claude -p` with its JSON lines. It is given the run token by a command that reads a
// file, the gateway as its provider, and no settings of the repository.

import type { ConversationStore, Harness, TurnContext, TurnLaunch } from '../harness.ts';
import { requireProgram } from '../program.ts';
import { createTranslator } from '../translator.ts';
import { claudeArguments, claudeEnvironment, saidLine } from './launch.ts';
import { ownSkills } from '../skills.ts';
import { skillsPlugin } from './plugin.ts';
import { claudeTools } from './tools.ts';
import { claudeLogin } from './login.ts';
import { claudePin } from './pin.ts';
import { claudeScreen } from './screen.ts';
import { claudeSession } from './session.ts';
import { claudeDialect } from './translate.ts';

const launch = (context: TurnContext): TurnLaunch => {
  const program = requireProgram(context.program, 'claude');
  return {
    command: program.executable,
    args: [...claudeArguments(context, { commands: false }), '--dangerously-skip-permissions'],
    env: claudeEnvironment(context),
    homeFiles: skillsPlugin(context),
    input: new TextEncoder().encode(`${JSON.stringify(saidLine(context.prompt))}\n`),
    closeInput: 'after-input',
    programPaths: [program.directory],
  };
};

/** `<working directory, other signs as dashes>/<conversation>.jsonl`, and a folder of that name for what its tools left. */
const conversations: ConversationStore = {
  folder: '.claude/projects',
  holds: (path, conversation) => {
    const [, name = ''] = path.split('/');
    return name === `${conversation}.jsonl` || name === conversation;
  },
  placed: ({ path, content }, workdir) => ({
    path: [workdir.replace(/[^a-zA-Z0-9]/g, '-'), ...path.split('/').slice(1)].join('/'),
    content,
  }),
};

/** The adapter of Claude Code. */
export const claudeHarness: Harness = {
  id: 'claude',
  summary: 'Claude Code of Anthropic',
  capabilities: {
    process: 'per-turn',
    resume: true,
    toolGate: 'none',
    usage: true,
    systemPrompt: true,
    models: true,
    effort: true,
  },
  tools: claudeTools,
  login: claudeLogin,
  skills: ownSkills,
  mcp: ['command', 'address'],
  screen: claudeScreen,
  provider: 'anthropic',
  defaultModel: null,
  pin: claudePin,
  conversations,
  session: claudeSession,
  launch,
  translator: (from) => createTranslator(claudeDialect, from),
};
