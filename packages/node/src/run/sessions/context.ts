// Glossary. A live session is one whose program runs, with the view of it that this start of the node has.

import type { Interactions } from '../../interaction/index.ts';
import type { EnvironmentConductor } from '../../environment/index.ts';
import type { Environment, Handle } from '../../exec/backend.ts';
import type { Dialogue } from '../../harness/dialogue.ts';
import type { GatewayFailure } from '../../harness/harness.ts';
import type { Mutex } from '../../kernel/mutex.ts';
import type { Policies } from '../../policy/index.ts';
import type { LiveTexts } from '../../session/index.ts';
import type { ConductorParts } from '../doors.ts';

export type SessionConductorParts = ConductorParts & {
  /** Before a word to a program: rejects with `stale` once another conductor has its session. The store refuses by itself. */
  readonly held: () => Promise<void>;
  /** Opens and starts environments. */
  readonly environments: EnvironmentConductor;
  readonly interactions: Pick<Interactions, 'timeOut'>;
  readonly liveTexts: LiveTexts;
  /** Rules that decide what is asked. */
  readonly policies: Pick<Policies, 'inForce' | 'stamp'>;
  /** Tells the loop of tasks that there may be something to do. */
  readonly wakeTasks: () => void;
  /** Rejects when they are gone. */
  readonly attachmentBytes: (id: string) => Promise<Uint8Array>;
  readonly sessions: {
    readonly idleMs: number;
    readonly interactionMs: () => number | null;
    readonly titleModel: () => string | null;
  };
};

export type Live = {
  readonly sessionId: string;
  readonly generation: number;
  readonly runId: string;
  readonly environment: Environment;
  readonly handle: Handle;
  readonly dialogue: Dialogue;
  /** The program's name for people. */
  readonly program: string;
  /** It was started for one turn, which ends with it, and is told nothing more. */
  readonly perTurn: boolean;
  /** Bytes and commands take turns: the stored state must hold exactly what the stored offsets and frames say. */
  readonly turns: Mutex;
  /** Writes follow each other; reading goes on meanwhile. */
  readonly writes: Mutex;
  /** What is being asked of the process: to take no more input, to end. Nothing more is said to it. */
  leaving: boolean;
  /** That is under way; one that failed is tried again. */
  ending: boolean;
  /** Why it is of no use, when it said that it takes no prompts, or no more. */
  unfit: string | null;
  /** The turn that was told to stop, and since when. */
  stopping: { readonly turn: string; readonly sinceMs: number } | null;
  /** The number of the turn before which a checkpoint was made last. */
  checkpointed: number;
  /** With which files, and of what, all that waits was judged last. */
  judged: string;
  /** Of model calls that fail while a turn goes on, the program says nothing. */
  readonly quietRetries: boolean;
  /** The failed call that was seen last, and whether the log has it. */
  failedCall: { readonly failure: GatewayFailure; readonly told: boolean } | null;
  /** Since when nothing was said either way, ms. */
  quietSince: number;
};
