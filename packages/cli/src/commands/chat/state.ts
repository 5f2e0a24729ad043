// Everything that a chat knows. Pure: it changes by `update` alone.

import type { LiveRow } from '@orrery/client';
import type {
  Answers,
  InteractionView,
  InteractionAnswer,
  OrreryEvent,
  ReportedCatalogue,
  SessionView,
  TurnView,
} from '@orrery/protocol';
import { emptyComposer, type Composer } from './composer.ts';
import type { KeyPress } from './keys.ts';
import { emptyTranscript, type Item, type Transcript } from './transcript.ts';

/** What Enter does with the text that is being written. */
export type Purpose =
  | { readonly kind: 'prompt' }
  | { readonly kind: 'deny' | 'answer'; readonly interaction: string; readonly revision: number }
  | { readonly kind: 'edit'; readonly turn: string };

/** What was typed and waits for the node's word that it has it. */
export type Sending = How & { readonly key: number; readonly text: string };

/** What an input is: words, also into the turn that runs; an order to sum up; or one of the program's own commands. */
export type How =
  | { readonly steer: boolean; readonly action?: never }
  | { readonly steer: false; readonly action: 'compact' }
  | { readonly steer: false; readonly action: 'command'; readonly command: string };

/** An input as it is written. */
export const written = (text: string, how: How): string => {
  if (how.action === undefined) return text;
  return `/${how.action === 'compact' ? 'compact' : how.command} ${text}`.trimEnd();
};

/** A rule as a person saw it. */
export type ShownRule = { readonly interaction: string; readonly revision: number; readonly name: string; readonly yaml: string };

export type ChatState = {
  readonly session: SessionView;
  readonly transcript: Transcript;
  /** Rows that are being written. */
  readonly live: readonly LiveRow[];
  /** The first event that was shown. */
  readonly oldest: number;
  /** Inputs that wait, in their order. */
  readonly turns: readonly TurnView[];
  readonly sending: readonly Sending[];
  readonly sends: number;
  /** What its program reported of itself; null: it is not read yet. */
  readonly catalogue: ReportedCatalogue | null;
  readonly asks: readonly InteractionView[];
  /** The question that is shown, and from when on keys answer it. */
  readonly asked: { readonly id: string; readonly revision: number; readonly armedAtMs: number } | null;
  /** The rule that was shown last, of the question that it is for. */
  readonly rule: ShownRule | null;
  /** What is chosen of a question's choices. */
  readonly choice: number;
  /** Answers to its questions so far. */
  readonly given: Answers;
  readonly composer: Composer;
  readonly purpose: Purpose;
  /** What was being written when the purpose changed. */
  readonly draft: Composer;
  readonly focus: 'write' | 'answer' | 'queue';
  readonly queueAt: number;
  readonly past: { readonly entries: readonly string[]; readonly at: number | null; readonly draft: string };
  readonly completion: number;
  readonly hint: { readonly text: string; readonly untilMs: number } | null;
  readonly lost: string | null;
  /** Until when a second Ctrl-C leaves. */
  readonly leavingUntilMs: number;
  readonly stopping: boolean;
  readonly whole: boolean;
  readonly size: { readonly columns: number; readonly rows: number };
  readonly nowMs: number;
};

/** What happens to a chat. */
export type Message =
  | { readonly kind: 'keys'; readonly keys: readonly KeyPress[]; readonly atMs: number }
  /** What was stored, and what is being written now. */
  | { readonly kind: 'events'; readonly events: readonly OrreryEvent[]; readonly live: readonly LiveRow[] }
  | { readonly kind: 'older'; readonly items: readonly Item[]; readonly oldest: number }
  | {
      readonly kind: 'facts';
      readonly session: SessionView;
      readonly turns: readonly TurnView[];
      readonly asks: readonly InteractionView[];
      readonly catalogue: ReportedCatalogue | null;
      readonly atMs: number;
    }
  | { readonly kind: 'sent'; readonly key: number; readonly turn: TurnView | null }
  /** The rule for a question was shown; null: there is none. */
  | { readonly kind: 'ruled'; readonly rule: ShownRule | null }
  /** An answer did not become the answer. */
  | { readonly kind: 'unanswered' }
  | { readonly kind: 'said'; readonly items: readonly Item[] }
  | { readonly kind: 'lost'; readonly reason: string | null }
  | { readonly kind: 'size'; readonly columns: number; readonly rows: number }
  | { readonly kind: 'tick'; readonly atMs: number };

/** What a chat changes of its session. */
export type SessionChange = {
  readonly name?: string;
  readonly mode?: SessionView['mode'];
  readonly model?: string;
  readonly effort?: string;
};

/** What has to be done outside. */
export type Effect =
  | { readonly kind: 'send'; readonly sending: Sending }
  | {
      readonly kind: 'answer';
      readonly interaction: string;
      readonly revision: number;
      readonly outcome: InteractionAnswer['outcome'];
      readonly message?: string;
      readonly answers?: Answers;
    }
  /** The rule that would allow just what is asked. */
  | { readonly kind: 'rule'; readonly interaction: string; readonly revision: number }
  /** It goes to the policy file, and allows what is asked once. */
  | ({ readonly kind: 'add-rule' } & ShownRule)
  | { readonly kind: 'set'; readonly set: SessionChange }
  /** What it changed: the list of files, or one of them. */
  | { readonly kind: 'diff'; readonly file: string | null }
  /** The moments it can go back to, and going to one. */
  | { readonly kind: 'moments' }
  /** Another session parts from it, and the chat goes there; null: behind the last turn that is over. */
  | { readonly kind: 'fork'; readonly at: string | null }
  | { readonly kind: 'rewind'; readonly to: string }
  | { readonly kind: 'interrupt' | 'close' | 'end' }
  | { readonly kind: 'sessions' | 'refresh' }
  | { readonly kind: 'reword'; readonly turn: string; readonly text: string }
  | { readonly kind: 'move'; readonly turn: string; readonly position: number }
  | { readonly kind: 'now'; readonly turn: string }
  | { readonly kind: 'remove'; readonly turn: string }
  | { readonly kind: 'decide'; readonly turn: string; readonly decision: 'retry' | 'discard' }
  | { readonly kind: 'older'; readonly before: number }
  | { readonly kind: 'search'; readonly words: string }
  | { readonly kind: 'remember'; readonly text: string }
  | { readonly kind: 'switch'; readonly session: string }
  | { readonly kind: 'leave' };

/** A change of the state, what is to be done, and what goes to the scrollback. */
export type Step = { readonly state: ChatState; readonly effects: readonly Effect[]; readonly print: readonly Item[] };

export const step = (state: ChatState, effects: readonly Effect[] = [], print: readonly Item[] = []): Step => ({
  state,
  effects,
  print,
});

/** How long a question is there before a key answers it: what was typed for something else must not. */
export const GUARD_MS = 700;
/** How long a remark stays. */
const HINT_MS = 6_000;

export const withHint = (state: ChatState, text: string): ChatState => ({
  ...state,
  hint: { text, untilMs: state.nowMs + HINT_MS },
});

/** Whether a turn runs, so that input waits. */
export const isBusy = ({ session }: ChatState): boolean =>
  session.state === 'running' || session.state === 'waiting' || session.state === 'starting';

/** Whether keys answer the question that is shown. */
export const isArmed = (state: ChatState): boolean =>
  state.asked !== null && state.focus === 'answer' && state.nowMs >= state.asked.armedAtMs;

export const shownAsk = ({ asks, asked }: ChatState): InteractionView | null =>
  asked === null ? null : (asks.find(({ id }) => id === asked.id) ?? null);

export type Begin = Pick<ChatState, 'session' | 'size' | 'nowMs'> & { readonly after: number; readonly past: readonly string[] };

export const beginState = ({ session, size, nowMs, after, past }: Begin): ChatState => ({
  session,
  transcript: emptyTranscript(after),
  live: [],
  oldest: after + 1,
  turns: [],
  sending: [],
  sends: 0,
  catalogue: null,
  asks: [],
  asked: null,
  choice: 0,
  given: {},
  composer: emptyComposer,
  purpose: { kind: 'prompt' },
  draft: emptyComposer,
  focus: 'write',
  queueAt: 0,
  past: { entries: past, at: null, draft: '' },
  completion: 0,
  hint: null,
  lost: null,
  rule: null,
  leavingUntilMs: 0,
  stopping: false,
  whole: false,
  size,
  nowMs,
});
