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
  /** Its model and effort are chosen over the protocol, not when it is started. */
  readonly choosesInSession: boolean;
};

/** What every agent of this protocol can do in a session, beside its modes. */
export const acpCapabilities = (modes: readonly PermissionMode[]): SessionCapabilities => ({
  steer: false,
  approvals: true,
  questions: false,
  modes,
  commands: true,
  models: true,
  fork: 'none',
  rewind: 'replaced',
  effort: false,
  images: false,
  files: true,
  plans: false,
  context: false,
  compaction: false,
  subAgents: false,
  backgroundTasks: false,
  toolGate: 'before',
  missing: {
    fork: 'The protocol has no word for a place in a conversation.',
    steer: 'The protocol has no words into a turn that runs.',
    questions: 'The protocol asks for permissions alone.',
    effort: 'It is chosen when the program starts.',
    images: 'Images are not given over this protocol yet.',
    plans: 'Plans are not read from this protocol yet.',
    context: 'How full the window is, is not read from this protocol yet.',
    compaction: 'The protocol has no order to sum up.',
    subAgents: 'The protocol tells none.',
    backgroundTasks: 'The protocol tells none.',
  },
});
