// A program that is started for each turn, by a protocol of ours that any language can speak: the spec of the turn is in
// the file that ORRERY_HARNESS_TURN names, and its lines are JSON objects. Contract: ports, "harnesses".

import type { HarnessTurnSpec } from '@orrery/protocol';
import { createDialogue, type SessionDialect } from '../dialogue.ts';
import type {
  ConversationStore,
  Harness,
  SessionAdapter,
  SessionCapabilities,
  SessionContext,
  SessionLaunch,
  TurnContext,
  TurnLaunch,
} from '../harness.ts';
import { ownModel } from '../model-name.ts';
import { createTranslator } from '../translator.ts';
import { freshTurn, turnDialect, turnState, type TurnState } from './translate.ts';

/** What an operator declares. */
export type TurnProgram = {
  readonly id: string;
  readonly description: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Provider and model of the gateway; null: it calls no model of the node's. */
  readonly model: { readonly provider: string; readonly model: string } | null;
  readonly egress: readonly string[];
  /** Files and folders that it lives in. */
  readonly files: readonly string[];
};

const VARIABLE = 'ORRERY_HARNESS_TURN';

/** Where conversations keep what they want to, below the home. */
const FOLDER = '.orrery-turns';

const nameOf = ({ conversation, name }: Pick<TurnContext, 'conversation' | 'name'>): string => conversation ?? name ?? 'turns';

/** The folder is the program's own; what it holds belongs to the conversation that it is called by. */
const conversations: ConversationStore = {
  folder: FOLDER,
  holds: (path, conversation) => path.startsWith(`${conversation}/`),
  placed: (file) => file,
};

type Common = Omit<TurnContext, 'prompt' | 'command'> & { readonly prompt: string };

const specOf = (program: TurnProgram, context: Common, runToken: string): HarnessTurnSpec => {
  const { model } = program;
  const baseUrl = `${context.brokerEndpoint}/models/${model?.provider ?? ''}`;
  const asked =
    context.model === null || model === null ? null : ownModel(context.model, { id: program.id, provider: model.provider });
  return {
    harness: program.id,
    sessionId: nameOf(context),
    prompt: context.prompt,
    systemPrompt: context.systemPrompt ?? '',
    model: asked ?? model?.model ?? null,
    workspaceDir: context.workdir,
    sessionDir: `${context.home}/${FOLDER}/${nameOf(context)}`,
    resume: context.conversation !== null,
    env: { ...program.env },
    credentials: model === null ? [] : [{ provider: model.provider, authType: 'api_key', payload: runToken, baseUrl }],
    tools: { command: [], env: {} },
    browser: null,
    scratchpad: context.scratchpad,
    memory: context.memory ?? null,
    missionScratchpad: null,
  };
};

const launchOf = (program: TurnProgram, context: Common): SessionLaunch => {
  const [command = '', ...args] = program.command;
  return {
    command,
    args,
    env: { ...program.env },
    homeFiles: { [`${FOLDER}/${nameOf(context)}/.orrery`]: "This folder is the conversation's own.\n" },
    programPaths: program.files,
    file: {
      name: `turn-${context.name ?? 'turns'}.json`,
      variable: VARIABLE,
      content: (runToken) => `${JSON.stringify(specOf(program, context, runToken))}\n`,
    },
  };
};

/** The state is what a translator of one turn begins with. */
const launchTurn = (program: TurnProgram, context: TurnContext): TurnLaunch => ({
  ...launchOf(program, context),
  input: null,
  closeInput: 'after-input',
  begins: { skipped: 0, log: 0, drift: {}, dialect: freshTurn(nameOf(context)) },
});

const sessionDialect = (program: string): SessionDialect<TurnState> => {
  const { frame } = turnDialect(program);
  return {
    program,
    schema: turnState,
    begin: ({ conversation }) => ({ state: freshTurn(conversation ?? '') }),
    hear: (state, value) => frame(state, value),
    // It is told by its start alone. Its rows bear the number of the turn.
    tell: (state, command) =>
      command.kind === 'prompt'
        ? {
            state: freshTurn(state.session, `turn-${command.turn}-`),
            events: [{ kind: 'turn.started', conversation: state.session === '' ? null : state.session, model: null }],
          }
        : { state },
    word: ({ reported }) => reported,
  };
};

/** It is given a turn and tells what came of it. */
const abilities: SessionCapabilities = {
  steer: false,
  approvals: false,
  questions: false,
  modes: ['all'],
  commands: false,
  models: false,
  fork: 'record',
  rewind: 'replaced',
  effort: false,
  images: false,
  files: false,
  plans: false,
  context: false,
  compaction: false,
  subAgents: false,
  backgroundTasks: false,
  toolGate: 'none',
  missing: {
    fork: 'It says nothing of places in a conversation: a fork begins a new one with a record of what was said.',
    steer: 'It is started with a turn and takes nothing more.',
    approvals: 'It asks nothing.',
    questions: 'It asks nothing.',
    commands: 'It reports none.',
    models: 'Its model is what it is started with.',
    effort: 'Its effort is what it is started with.',
    images: 'It is given words alone.',
    files: 'It is given words alone.',
    plans: 'It tells none.',
    context: 'It does not tell how full the window is.',
    compaction: 'It has no order to sum up.',
    subAgents: 'It tells none.',
    backgroundTasks: 'It tells none.',
  },
};

const sessionOf = (program: TurnProgram): SessionAdapter => {
  const name = program.id;
  return {
    capabilities: abilities,
    program: name,
    perTurn: true,
    launch: ({ turnPrompt, ...context }: SessionContext) => launchOf(program, { ...context, prompt: turnPrompt ?? '' }),
    hasLost: () => false,
    dialogue: (from) => createDialogue(sessionDialect(name), from),
  };
};

/** The adapter of an operator's own program. */
export const turnHarness = (program: TurnProgram): Harness => ({
  id: program.id,
  summary: program.description === '' ? `A turn program: ${program.command[0] ?? ''}` : program.description,
  capabilities: {
    process: 'per-turn',
    resume: true,
    toolGate: 'none',
    usage: true,
    systemPrompt: true,
    models: program.model !== null,
    effort: false,
  },
  screen: null,
  provider: program.model?.provider ?? null,
  defaultModel: program.model === null ? null : `${program.model.provider}/${program.model.model}`,
  pin: null,
  conversations,
  session: sessionOf(program),
  declared: true,
  egress: program.egress,
  launch: (context) => launchTurn(program, context),
  translator: (from) => createTranslator(turnDialect(program.id), from),
});
