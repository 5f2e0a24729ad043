// What tests of a chat begin with.
import type { InteractionView, OrreryEvent, ReportedCatalogue, SessionView, TurnView } from '@orrery/protocol';
import type { KeyPress } from '../src/commands/chat/keys.ts';
import { beginState, step, type ChatState, type Effect, type Message, type Step } from '../src/commands/chat/state.ts';
import type { Item } from '../src/commands/chat/transcript.ts';
import { update } from '../src/commands/chat/update.ts';
import { screenOf } from '../src/screen.ts';

const at = '2026-12-01T10:00:00.000Z';
export const NOW = Date.parse(at);

export const plainScreen = screenOf({ isTTY: true, columns: 80 }, { NO_COLOR: '1', TERM: 'xterm' });
export const colourScreen = screenOf({ isTTY: true, columns: 80 }, { TERM: 'xterm' });

export const aSession = (more: Partial<SessionView> = {}): SessionView => ({
  id: 'ses_1',
  seq: 1,
  sequence: 0,
  name: 'site-1',
  nameGiven: false,
  title: 'site-1',
  state: 'idle',
  unattended: 'wait',
  held: false,
  limit: null,
  budget: { usd: null, turns: null, reached: null },
  reason: null,
  project: { id: 'prj_1', name: 'site' },
  environment: { id: 'env_1', name: 'site-1', backend: 'sandbox', state: 'ready' },
  agent: null,
  harness: 'claude',
  model: null,
  effort: null,
  mode: 'ask',
  effectiveModel: null,
  effectiveEffort: null,
  effectiveMode: null,
  context: null,
  usage: { calls: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0, costUsd: 0 },
  conversation: null,
  generation: 1,
  turn: null,
  ...{ queued: 0, uncertain: 0 },
  interactions: 0,
  createdAt: at,
  changedAt: at,
  endedAt: null,
  operation: null,
  ...{ forks: 'native', forkedFrom: null },
  handedFrom: null,
  handedTo: null,
  replayed: false,
  ...more,
});

export const aTurn = (id: string, more: Partial<TurnView> = {}): TurnView => ({
  id,
  requestId: id,
  kind: 'prompt',
  turn: null,
  state: 'pending',
  action: 'say',
  attachments: [],
  text: `text of ${id}`,
  outcome: null,
  reason: null,
  createdAt: at,
  startedAt: null,
  endedAt: null,
  undone: false,
  replayed: false,
  ...more,
});

type AskGiven = Partial<Omit<InteractionView, 'ask'>> & { readonly ask?: Partial<InteractionView['ask']> };

export const anAsk = (id: string, { ask = {}, ...more }: AskGiven = {}): InteractionView => ({
  id,
  sessionId: 'ses_1',
  sessionName: 'site-1',
  turn: 1,
  state: 'open',
  revision: 1,
  ask: {
    kind: 'command',
    tool: 'Bash',
    title: 'Run a command',
    command: 'rm -rf build',
    paths: [],
    detail: '',
    questions: [],
    outcomes: ['approved', 'approved-for-session', 'denied'],
    ...ask,
  },
  outcome: null,
  answers: null,
  by: null,
  deadlineAt: '2026-12-02T10:00:00.000Z',
  createdAt: at,
  settledAt: null,
  ...more,
});

export const anEvent = (sequence: number, body: OrreryEvent['body']): OrreryEvent => ({
  seq: sequence,
  at,
  taskId: null,
  sessionId: 'ses_1',
  sequence,
  turn: 1,
  body,
});

/** A chat under test: what happens to it, and what came of all that. */
export type Played = { state: ChatState; effects: Effect[]; print: Item[] };

type Given = {
  session?: Partial<SessionView>;
  turns?: TurnView[];
  asks?: InteractionView[];
  catalogue?: ReportedCatalogue;
};

export const play = (session: Partial<SessionView> = {}, size = { columns: 80, rows: 24 }, past: readonly string[] = []) => {
  const played: Played = {
    state: beginState({ session: aSession(session), size, nowMs: NOW, after: 0, past }),
    effects: [],
    print: [],
  };
  let nowMs = NOW;
  const take = (message: Message): Step => {
    const done = update(played.state, message);
    played.state = done.state;
    played.effects.push(...done.effects);
    played.print.push(...done.print);
    return step(done.state, done.effects, done.print);
  };
  const press = (...keys: readonly KeyPress[]): Step => take({ kind: 'keys', keys, atMs: nowMs });
  return {
    played,
    take,
    press,
    /** Each letter by itself, as a person types. */
    type: (text: string): void => {
      for (const one of text) press({ kind: 'text', text: one, alone: true });
    },
    wait: (ms: number): void => {
      nowMs += ms;
      take({ kind: 'tick', atMs: nowMs });
    },
    facts: (given: Given): Step =>
      take({
        kind: 'facts',
        session: aSession({ ...session, ...given.session }),
        turns: given.turns ?? [],
        asks: given.asks ?? [],
        catalogue: given.catalogue ?? null,
        atMs: nowMs,
      }),
    effects: (): Effect[] => played.effects.splice(0),
  };
};
