// Codex, one process per turn: `codex exec --json`, prompt on stdin.

import { z } from 'zod';
import type { ConversationStore, Harness, TurnContext, TurnLaunch } from '../harness.ts';
import { requireProgram } from '../program.ts';
import { createTranslator } from '../translator.ts';
import { codexModel, configFile, DEFAULT_MODEL } from './launch.ts';
import { codexLogin } from './login.ts';
import { codexPin } from './pin.ts';
import { codexScreen } from './screen.ts';
import { codexSession } from './session.ts';
import { codexDialect } from './translate.ts';

const launch = (context: TurnContext): TurnLaunch => {
  const program = requireProgram(context.program, 'codex');
  const model = codexModel(context);
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
const rollout = z.object({ payload: z.object({ history_base: z.object({ thread_id: z.string() }).optional() }) });

/** A thread that was forked holds what came since; its first line names the thread that has the rest. */
const rolloutBase = (content: Uint8Array): string | null => {
  const end = content.indexOf(10);
  try {
    const line: unknown = JSON.parse(Buffer.from(content.subarray(0, end === -1 ? content.length : end)).toString('utf8'));
    return rollout.safeParse(line).data?.payload.history_base?.thread_id ?? null;
  } catch {
    return null;
  }
};

const conversations: ConversationStore = {
  folder: '.codex/sessions',
  holds: (path, conversation) => path.endsWith(`-${conversation}.jsonl`),
  base: ({ content }) => rolloutBase(content),
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
  // It has no other place for them: who else works in this environment with it finds them, too.
  login: codexLogin,
  skills: () => '.codex/skills',
  mcp: ['command'],
  screen: codexScreen,
  provider: 'openai',
  defaultModel: DEFAULT_MODEL,
  pin: codexPin,
  conversations,
  session: codexSession,
  launch,
  translator: (from) => createTranslator(codexDialect, from),
};
