// Glossary. A dialogue is what a node and a program that lives for many turns say to each other. A frame is one line of
// it; a saying is a frame of ours; a fact is what the node learns beside the rows of the log. A dialogue is pure: its
// state is stored with the offset it was read up to, and what it says is stored before it is written, so that another
// start of the node goes on with both exactly where they are. Contract: sessions, "Dispatch".

import type {
  Answers,
  ConversationBody,
  InteractionAsk,
  InteractionOutcome,
  LiveKind,
  PermissionMode,
  TurnAction,
} from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { z } from 'zod';
import { MAX_LINE_BYTES, MAX_LOG_NOTICES } from './limits.ts';
import { createLineSplitter, type Line } from './lines.ts';
import { detached, openWorks, worksAfter } from './content.ts';
import type { Reported } from './reported.ts';
import { countDrift, noticeOf, parseFrame } from './frames.ts';

/** What a person or the queue wants the program to be told. */
export type SessionCommand =
  | {
      readonly kind: 'prompt';
      readonly turn: number;
      readonly text: string;
      /** What it is for; absent: words. The text of another is the program's own command. */
      readonly action?: TurnAction;
      readonly images?: readonly PromptImage[];
    }
  | { readonly kind: 'steer'; readonly key: string; readonly text: string }
  | { readonly kind: 'interrupt' }
  | {
      readonly kind: 'answer';
      readonly key: string;
      readonly outcome: InteractionOutcome;
      readonly answers: Answers | null;
      readonly message: string | null;
    }
  | { readonly kind: 'mode'; readonly mode: PermissionMode }
  /** Null: as the program thinks best. */
  | { readonly kind: 'model'; readonly model: string | null; readonly effort: string | null };

/** An image that goes with a prompt; its file is there inside too. */
export type PromptImage = { readonly mediaType: string; readonly base64: string; readonly path: string };

/** What the program reported of itself. Nothing in it is guessed. */
export type SessionCatalogue = {
  readonly models: readonly { readonly id: string; readonly name: string; readonly efforts: readonly string[] }[];
  readonly commands: readonly { readonly name: string; readonly description: string }[];
};

/** What the node learns. */
export type SessionFact =
  /** It takes prompts. */
  | { readonly kind: 'ready' }
  /** It never will: this process is of no use. */
  | { readonly kind: 'unfit'; readonly reason: string }
  | { readonly kind: 'conversation'; readonly id: string }
  /** Where the conversation is after a turn, in the program's own terms: `Branch.position`. */
  | { readonly kind: 'position'; readonly at: string }
  /** What it reports anew; the rest stays as it was reported. */
  | { readonly kind: 'catalogue'; readonly catalogue: Partial<SessionCatalogue> }
  | { readonly kind: 'mode'; readonly mode: string }
  /** What it works with; null: it did not say. */
  | { readonly kind: 'model'; readonly model: string | null; readonly effort: string | null }
  | { readonly kind: 'accepted'; readonly turn: number }
  /** `untaken`: refused by the program's own answer, or never said to it; then the words have reached nobody for certain. */
  | { readonly kind: 'steered'; readonly key: string; readonly refused: string | null; readonly untaken?: true }
  /** A steer came after its turn and began the next one by itself. */
  | { readonly kind: 'began'; readonly turn: number; readonly key: string }
  | { readonly kind: 'ended'; readonly turn: number; readonly reported: Reported }
  | { readonly kind: 'asks'; readonly key: string; readonly ask: InteractionAsk }
  | { readonly kind: 'withdrawn'; readonly key: string };

/** Text of a row while it is written; nothing of it is stored. `text` is the row so far and begins it; `append` goes behind what began. */
export type LivePiece = { readonly kind: LiveKind; readonly row: string } & (
  | { readonly text: string }
  | { readonly append: string }
);

/** One line for the program. `prompt`: the turn whose prompt it carries. */
export type Saying = { readonly value: unknown; readonly prompt?: number };

/** What a frame or a command does. `drift` names a frame nobody knows. */
export type Spoken<State> = {
  readonly state: State;
  readonly events?: readonly ConversationBody[];
  readonly facts?: readonly SessionFact[];
  readonly say?: readonly Saying[];
  readonly live?: readonly LivePiece[];
  readonly drift?: string;
};

/** A place in a conversation at which another one begins; `position` null: at its end. */
export type Branch = { readonly conversation: string; readonly position: string | null };

/** What a new process is begun with. */
export type DialogueStart = {
  readonly conversation: string | null;
  /** It begins a conversation of its own from here; `conversation` is null then. Null: it does not. */
  readonly branch: Branch | null;
  readonly workdir: string;
  readonly model: string | null;
  readonly effort: string | null;
  readonly mode: PermissionMode;
};

/** One program's side, as pure functions of plain JSON states. */
export type SessionDialect<State> = {
  readonly program: string;
  readonly schema: z.ZodType<State>;
  begin(start: DialogueStart): Spoken<State>;
  hear(state: State, frame: Readonly<Record<string, unknown>>): Spoken<State>;
  /** @throws OrreryError unsupported for what the program cannot be told */
  tell(state: State, command: SessionCommand): Spoken<State>;
  /** Of a program that is started for each turn: its word on the turn so far. Absent: it tells the end of a turn itself. */
  word?(state: State): Reported;
};

/** What is stored between the lines of one process. */
export type DialogueState = Readonly<Record<string, unknown>>;

/** A line to write, named so that it is written at most once. */
export type DialogueFrame = { readonly key: string; readonly text: string; readonly prompt: number | null };

/** What bytes or a command gave. */
export type DialogueStep = {
  readonly events: readonly ConversationBody[];
  readonly facts: readonly SessionFact[];
  readonly frames: readonly DialogueFrame[];
  readonly live: readonly LivePiece[];
};

/** One process of a session, from the node's side. Never throws on what a program may send. */
export type Dialogue = {
  begin(start: DialogueStart): DialogueStep;
  /** One step for each line, in order. */
  push(bytes: Uint8Array): readonly DialogueStep[];
  tell(command: SessionCommand): DialogueStep;
  /** The process ended: what is left of its output. */
  end(): DialogueStep;
  /** What the program said of the turn that ends with its process; null: nothing. */
  word(): Reported;
  /** Bytes consumed, and the state there. */
  position(): { readonly offset: number; readonly state: DialogueState };
};

const kept = z.object({
  skipped: z.int(),
  log: z.int(),
  said: z.int(),
  drift: z.record(z.string(), z.int()),
  works: openWorks,
  dialect: z.unknown(),
});
type Kept<State> = {
  readonly skipped: number;
  readonly log: number;
  readonly said: number;
  readonly drift: Readonly<Record<string, number>>;
  readonly works: readonly ConversationBody[];
  readonly dialect: State | null;
};

const restore = <State>(dialect: SessionDialect<State>, stored: DialogueState | null): Kept<State> => {
  if (stored === null) return { skipped: 0, log: 0, said: 0, drift: {}, works: [], dialect: null };
  const outer = kept.safeParse(stored);
  const inner = dialect.schema.safeParse(outer.data?.dialect);
  if (outer.success && inner.success) return { ...outer.data, dialect: inner.data };
  throw new OrreryError('store_damaged', `The stored reading position of a ${dialect.program} session is not readable.`, {
    rule: 'Reading continues only from a state this version wrote.',
    fix: 'Close the session and go on: the program resumes its conversation.',
  });
};

/** What a process that is gone left open, by its stored state: nothing of it stays active. */
export const leftOpen = (stored: unknown): readonly ConversationBody[] => detached(kept.safeParse(stored).data?.works ?? []);

/** Makes the dialogue of one process, continuing at a committed offset and state (0 and null for a new one). */
export const createDialogue = <State>(
  dialect: SessionDialect<State>,
  from: { readonly offset: number; readonly state: DialogueState | null },
): Dialogue => {
  let now = restore(dialect, from.state);
  const splitter = createLineSplitter({ maxLineBytes: MAX_LINE_BYTES, offset: from.offset, skipped: now.skipped });

  const take = (spoken: Spoken<State>, events: readonly ConversationBody[] = []): DialogueStep => {
    let { said } = now;
    const frames = (spoken.say ?? []).map(({ value, prompt }) => ({
      key: `f${++said}`,
      text: `${JSON.stringify(value)}\n`,
      prompt: prompt ?? null,
    }));
    const drifted = spoken.drift === undefined ? null : countDrift(now.drift, { program: dialect.program, name: spoken.drift });
    now = {
      ...now,
      said,
      drift: drifted?.drift ?? now.drift,
      works: worksAfter(now.works, spoken.events ?? []),
      dialect: spoken.state,
    };
    return {
      events: [...events, ...(spoken.events ?? []), ...(drifted?.events ?? [])],
      facts: spoken.facts ?? [],
      frames,
      live: spoken.live ?? [],
    };
  };
  const state = (): State => {
    if (now.dialect !== null) return now.dialect;
    throw new Error('a dialogue was used before it began');
  };
  const read = (line: Line): DialogueStep => {
    if (line.kind === 'too-long')
      return {
        ...nothing,
        events: [
          noticeOf(
            'warning',
            `${dialect.program} wrote a line of ${line.bytes} bytes; lines above ${MAX_LINE_BYTES} bytes are skipped.`,
          ),
        ],
      };
    if (line.text.trim() === '') return nothing;
    const frame = parseFrame(line.text);
    if (frame !== null) return take(dialect.hear(state(), frame));
    // A line that is not a JSON object is the program's log.
    now = { ...now, log: now.log + 1 };
    return now.log > MAX_LOG_NOTICES ? nothing : { ...nothing, events: [noticeOf('info', `${dialect.program}: ${line.text}`)] };
  };

  return {
    begin: (start) => take(dialect.begin(start)),
    push: (bytes) =>
      splitter
        .push(bytes)
        .map(read)
        .filter((step) => step !== nothing),
    tell: (command) => take(dialect.tell(state(), command)),
    end: () => {
      const rest = splitter.rest();
      return rest === null ? nothing : read(rest);
    },
    word: () => (now.dialect === null ? null : (dialect.word?.(now.dialect) ?? null)),
    position: () => ({ offset: splitter.offset(), state: { ...now, skipped: splitter.skipped() } }),
  };
};

const nothing: DialogueStep = { events: [], facts: [], frames: [], live: [] };

/** What a program cannot be told. */
export const cannotBeTold = (program: string, what: string): OrreryError =>
  new OrreryError('unsupported', `${program} cannot ${what}.`, {
    rule: 'What a program can do is shown by orrery harness show.',
  });
