// Pi, one process per turn: `pi --mode json -p`, prompt on stdin. It asks no permissions: every call runs in our sandbox.

import type { ConversationStore, Harness, TurnContext, TurnLaunch } from '../harness.ts';
import { saidOutright } from '../said.ts';
import { ownSkills } from '../skills.ts';
import { createTranslator } from '../translator.ts';
import { DEFAULT_MODEL, piLaunch } from './launch.ts';
import { piPin } from './pin.ts';
import { piScreen } from './screen.ts';
import { piSession } from './session.ts';
import { piDialect } from './translate.ts';

const launch = (context: TurnContext): TurnLaunch => ({
  ...piLaunch(context, ['--mode', 'json', '-p']),
  // It looks for a command behind white space of its standard input, too.
  input: new TextEncoder().encode(saidOutright(context.prompt)),
  closeInput: 'after-input',
});

/** The first line of a conversation says where it works, and another place is taken for another project. */
const movedTo = (content: Uint8Array, workdir: string): Uint8Array => {
  const end = content.indexOf(0x0a);
  const line = new TextDecoder().decode(content.subarray(0, end === -1 ? content.length : end));
  const header = parseHeader(line);
  if (header === null) return content;
  return Buffer.concat([
    Buffer.from(JSON.stringify({ ...header, cwd: workdir })),
    content.subarray(end === -1 ? content.length : end),
  ]);
};

const parseHeader = (line: string): object | null => {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
};

/** `--<working directory, slashes as dashes>--/<instant>_<conversation>.jsonl`. */
const conversations: ConversationStore = {
  folder: '.pi/agent/sessions',
  holds: (path, conversation) => path.endsWith(`_${conversation}.jsonl`),
  placed: ({ path, content }, workdir) => ({
    path: `--${workdir.replace(/^\//, '').replaceAll(/[/\\:]/g, '-')}--/${path.split('/').at(-1) ?? ''}`,
    content: movedTo(content, workdir),
  }),
};

/** The adapter of Pi. */
export const piHarness: Harness = {
  id: 'pi',
  summary: 'Pi, a small open agent that speaks to several providers',
  capabilities: {
    process: 'per-turn',
    resume: true,
    toolGate: 'none',
    usage: true,
    systemPrompt: true,
    models: true,
    effort: true,
  },
  // Those of its own help; `powershell` is for another system.
  tools: ['read', 'bash', 'edit', 'write', 'grep', 'find', 'ls'],
  skills: ownSkills,
  screen: piScreen,
  provider: 'anthropic',
  defaultModel: DEFAULT_MODEL,
  pin: piPin,
  conversations,
  session: piSession,
  launch,
  translator: (from) => createTranslator(piDialect, from),
};
