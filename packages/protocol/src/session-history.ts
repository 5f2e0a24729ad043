import { z } from 'zod';
import { permissionMode } from './permission.ts';
import { instant, requestId, safeName } from './scalars.ts';
import { promptText, sessionView } from './session.ts';

// Sessions that go back, part, move and go away (contracts/sessions.md).

/** Files and conversation of a session as they were at one moment. */
export const checkpointView = z.object({
  id: z.string(),
  /** Why it was made: before that turn, because somebody asked, before the session was taken back, or for a fork. */
  kind: z.enum(['turn', 'asked', 'rewind', 'fork']),
  /** The turn that came next. */
  turn: z.int().nullable(),
  /** The newest event of the log at that moment. */
  sequence: z.int(),
  createdAt: instant,
  /** The commit that has all files, named by `ref` of the node's own copy of the repository. */
  sha: z.string(),
  ref: z.string(),
  headSha: z.string(),
  branch: z.string().nullable(),
  /** Whether the program itself can take the conversation back to here; else it is replaced by a new one that is given a record. */
  conversation: z.enum(['native', 'replaced']),
  /** What it does not hold, in sentences. */
  notes: z.array(z.string()),
});
export type CheckpointView = z.output<typeof checkpointView>;

export const checkpointList = z.object({ items: z.array(checkpointView), seq: z.int() });

export const sessionRewind = z.strictObject({
  /** The number of a turn (what was before it), or the id of a checkpoint. */
  to: z.string().min(1).max(100),
  what: z.enum(['both', 'files', 'conversation']).default('both'),
});
export type SessionRewind = z.output<typeof sessionRewind>;

/** What a rewinding came to. */
export const sessionRewound = z.object({
  session: sessionView,
  /** Where it is now. */
  checkpoint: checkpointView,
  /** What was there before: going there takes this back. */
  before: checkpointView,
  /** Refs of work that was saved because nothing else had it. */
  saved: z.array(z.string()),
  replaced: z.boolean(),
});
export type SessionRewound = z.output<typeof sessionRewound>;

/** Where another session parts from this one. */
export const sessionFork = z.strictObject({
  /** The number of a turn (what was before it), or the id of a checkpoint. Default: behind the last turn that is over. */
  at: z.string().min(1).max(100).optional(),
  /** Default: that of its environment. */
  name: safeName.optional(),
  /** What it is about. Default: as it was. */
  title: z.string().trim().min(1).max(60).optional(),
  requestId: requestId.optional(),
});
export type SessionFork = z.output<typeof sessionFork>;

/** To whom a conversation is handed over. */
export const sessionHandOver = z.strictObject({
  harness: z.string().min(1).max(100),
  model: z.string().min(1).max(200).optional(),
  effort: z.string().min(1).max(50).optional(),
  /** Default: as it was. */
  mode: permissionMode.optional(),
  /** Default: the name it had. */
  name: safeName.optional(),
  /** Its first input, before those that wait. */
  prompt: promptText.optional(),
  requestId: requestId.optional(),
});
export type SessionHandOver = z.output<typeof sessionHandOver>;
