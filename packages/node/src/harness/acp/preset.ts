import type { PermissionMode } from '@orrery/protocol';
import type { SessionCapabilities } from '../harness.ts';

/** What is particular to one agent that speaks the protocol; everything else is the protocol's. */
export type AcpPreset = {
  /** Its name for people. */
  readonly program: string;
  /** Its own names of our modes, those that are preferred first. In a mode without a name here it is asked to ask. */
  readonly modes: Readonly<Partial<Record<PermissionMode, readonly string[]>>> & { readonly ask: readonly string[] };
  /** It ends a turn whose model call failed as if all were well. */
  readonly hidesFailures: boolean;
  /** The tokens that it tells at the end of a turn: of this turn, or of the whole conversation. */
  readonly counts: 'turn' | 'conversation';
  /** Ways to log in that need nobody, in order. */
  readonly logins: readonly string[];
  /** As in `SessionAdapter`. */
  readonly takesUpFrom?: (begunMs: number) => number;
  /** What it tells of a conversation that it goes on with may come after its word that it goes on. Absent: it does not. */
  readonly tellsLate?: true;
  /** Frames of its own, beside the protocol, that say nothing to us. */
  readonly quiet: readonly string[];
  /** Why a fork of it begins with a record, where that is not for want of a word in the protocol. */
  readonly whyRecord?: string;
  /** As in `SessionAdapter`. */
  readonly quietRetries?: true;
  /** Pieces of a message that are the program's own word on what it does. Absent: none are known. */
  readonly ownWords?: RegExp;
  /** Its model and effort are chosen over the protocol, not when it is started. */
  readonly choosesInSession: boolean;
  /** A model was seen to get the images of a prompt. */
  readonly images: boolean;
  /** It was seen to tell how full the window is. */
  readonly tellsContext: boolean;
  /** Its command that sums up the conversation, which it takes over this protocol; null: none. What came of it, it says in words. */
  readonly compact: string | null;
  /** Commands of its own that would change what it asks: they are not offered, for the mode of a session is the node's to say. Absent: none. */
  readonly withheld?: readonly string[];
};

const missing = {
  fork: 'The protocol has no word for a place in a conversation: a fork begins a new one with a record of what was said.',
  steer: 'The protocol has no words into a turn that runs.',
  questions: 'The protocol asks for permissions alone.',
  effort: 'It is chosen when the program starts.',
  plans: 'The protocol asks for no word on a plan.',
  subAgents: 'The protocol tells none.',
  backgroundTasks: 'The protocol tells none.',
};

/** What an agent of this protocol can do in a session. */
export const acpCapabilities = ({ modes, images, tellsContext, compact, whyRecord }: AcpPreset): SessionCapabilities => ({
  steer: false,
  approvals: true,
  questions: false,
  modes: modes.plan === undefined ? ['ask', 'edits', 'all'] : ['ask', 'edits', 'all', 'plan'],
  commands: true,
  models: true,
  fork: 'record',
  rewind: 'replaced',
  effort: false,
  images,
  files: true,
  plans: false,
  context: tellsContext,
  compaction: compact !== null,
  subAgents: false,
  backgroundTasks: false,
  toolGate: 'before',
  missing: {
    ...missing,
    ...(whyRecord === undefined ? {} : { fork: whyRecord }),
    ...(images ? {} : { images: 'No model was seen to get the images that it is given.' }),
    ...(compact === null ? { compaction: 'It takes no order to sum up over this protocol.' } : {}),
    ...(tellsContext ? {} : { context: 'It does not tell how full the window is.' }),
  },
});
