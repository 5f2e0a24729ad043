// Glossary. A spoken turn is a task's turn of a program that has to be spoken with: greeted, told the prompt when it is
// ready, answered when it asks. It is made of the program's dialogue for sessions, so that nothing is translated twice.
// Everything that it says stands in its state before it is written. Decision 075.

import type { ConversationBody, PermissionMode } from '@orrery/protocol';
import { inlineBody } from './clip.ts';
import { OrreryError } from '@orrery/protocol/errors';
import { z } from 'zod';
import type { Dialogue, DialogueStep, SessionCommand, SessionFact } from './dialogue.ts';
import type { Harness, SessionAdapter, Speech, Translated, Translator, TranslatorState, TurnContext } from './harness.ts';
import { noticeOf } from './frames.ts';
import { settleOutcome } from './outcome.ts';
import { reported } from './reported.ts';
import { answerUnattended } from './unattended.ts';

/** The only turn of the process. */
const TURN = 1;

const spoken = z.object({
  dialogue: z.record(z.string(), z.unknown()),
  /** The prompt, until it is told; then it is in the outbox, and then in the program. */
  prompt: z.string().nullable(),
  /** The conversation that is to be gone on with. */
  resumes: z.string().nullable(),
  conversation: z.string().nullable(),
  outbox: z.array(z.object({ key: z.string(), text: z.string() })),
  accepted: z.boolean(),
  settled: z.boolean(),
  reported,
});
type SpokenState = z.output<typeof spoken>;

/** The mode that a program is started with when nobody is there: the walls are the sandbox's. */
export const unattendedMode = ({ capabilities: { modes } }: SessionAdapter): PermissionMode =>
  modes.includes('all') ? 'all' : (modes.find((mode) => mode !== 'plan') ?? 'ask');

/** The turns of tasks, made of what a program says in sessions. */
export const spokenTurn = (adapter: SessionAdapter): Pick<Harness, 'launch' | 'translator'> => ({
  launch: (context) => {
    const mode = unattendedMode(adapter);
    const { prompt: _prompt, command: _command, ...common } = context;
    return {
      ...adapter.launch({ ...common, branch: null, mode }),
      input: null,
      closeInput: 'when-settled',
      begins: firstState(adapter, context, mode),
    };
  },
  translator: (from) => createSpokenTranslator(adapter, from),
});

const firstState = (adapter: SessionAdapter, context: TurnContext, mode: PermissionMode): SpokenState => {
  const { conversation, workdir, model, effort, prompt } = context;
  const dialogue = adapter.dialogue({ offset: 0, state: null });
  const { frames } = dialogue.begin({ conversation, branch: null, workdir, model, effort, mode });
  return {
    dialogue: dialogue.position().state,
    prompt,
    resumes: conversation,
    conversation,
    outbox: frames.map(({ key, text }) => ({ key, text })),
    accepted: false,
    settled: false,
    reported: null,
  };
};

const restore = ({ program }: SessionAdapter, stored: TranslatorState): SpokenState => {
  const { data } = spoken.safeParse(stored);
  if (data !== undefined) return data;
  throw new OrreryError('store_damaged', `The stored reading position of a ${program} turn is not readable.`, {
    rule: 'Reading continues only from a state this version wrote.',
    fix: 'Run the task again: orrery task retry TASK',
  });
};

const createSpokenTranslator = (
  adapter: SessionAdapter,
  from: { readonly offset: number; readonly state: TranslatorState },
): Translator => {
  let now = restore(adapter, from.state);
  const dialogue = adapter.dialogue({ offset: from.offset, state: now.dialogue });
  const take = (steps: readonly DialogueStep[]): readonly ConversationBody[] =>
    steps.flatMap((step) => {
      const taken = takeStep({ dialogue, program: adapter.program }, now, step);
      now = taken.state;
      return taken.events;
    });
  const speech: Speech = {
    outbox: () => now.outbox,
    wrote: (key) => {
      now = { ...now, outbox: now.outbox.filter((line) => line.key !== key) };
    },
  };
  return {
    speech,
    push(bytes): Translated {
      const events = take(dialogue.push(bytes));
      const { offset, state } = dialogue.position();
      now = { ...now, dialogue: state };
      const { conversation, settled, accepted } = now;
      return { events, offset, state: now, conversation, settled, accepted };
    },
    end(end) {
      const events = take([dialogue.end()]);
      return { events, outcome: settleOutcome(now.reported, end, adapter.program) };
    },
  };
};

type With = { readonly dialogue: Dialogue; readonly program: string };
type Taken = { readonly state: SpokenState; readonly events: readonly ConversationBody[] };

/** What a step says goes into the outbox, and what the node learns of it is answered at once, in further steps. */
const takeStep = (having: With, before: SpokenState, step: DialogueStep): Taken => {
  let state: SpokenState = {
    ...before,
    outbox: [...before.outbox, ...step.frames.map(({ key, text }) => ({ key, text }))],
  };
  // How the turn ended is told once, by the node, which knows more than the program.
  const events: ConversationBody[] = step.events.filter((body) => body.kind !== 'turn.ended').map(inlineBody);
  for (const fact of step.facts) {
    const taken = takeFact(having, state, fact);
    state = taken.state;
    events.push(...taken.events);
  }
  return { state, events };
};

const takeFact = (having: With, now: SpokenState, fact: SessionFact): Taken => {
  switch (fact.kind) {
    case 'conversation':
      return takeConversation(having, now, fact.id);
    case 'ready':
      return now.prompt === null || now.settled
        ? { state: now, events: [] }
        : tell(having, { ...now, prompt: null }, { kind: 'prompt', turn: TURN, text: now.prompt });
    // It never takes the prompt: the turn is over, and nothing of it was begun.
    case 'unfit':
      return { state: { ...now, settled: true, reported: { ...noStart, message: fact.reason } }, events: [] };
    case 'accepted':
      return { state: { ...now, accepted: true }, events: [] };
    case 'ended':
      return { state: { ...now, accepted: true, settled: true, reported: fact.reported }, events: [] };
    case 'asks': {
      const { outcome, message, events } = answerUnattended(fact.ask);
      const told = tell(having, now, { kind: 'answer', key: fact.key, outcome, answers: null, message });
      return { state: told.state, events: [...events, ...told.events] };
    }
    case 'catalogue':
    case 'mode':
    case 'position':
    case 'model':
    case 'steered':
    case 'began':
    case 'withdrawn':
      return { state: now, events: [] };
  }
};

const noStart = { kind: 'failure', failure: 'program', resetsAt: null } as const;

/** A program that begins a new conversation where it was to go on with one is not given the prompt. */
const takeConversation = ({ program }: With, now: SpokenState, id: string): Taken => {
  if (now.prompt === null || now.resumes === null || now.resumes === id)
    return { state: { ...now, conversation: id }, events: [] };
  const message = `${program} does not have the conversation ${now.resumes} any more.`;
  return {
    state: { ...now, settled: true, reported: { kind: 'failure', failure: 'program', message, resetsAt: null } },
    events: [],
  };
};

const tell = (having: With, now: SpokenState, command: SessionCommand): Taken => {
  try {
    return takeStep(having, now, having.dialogue.tell(command));
  } catch (thrown) {
    if (!(thrown instanceof OrreryError) || thrown.code !== 'unsupported') throw thrown;
    return { state: now, events: [noticeOf('warning', thrown.message)] };
  }
};
