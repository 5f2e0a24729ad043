// Bounds of what sessions keep beside their turns, and hand over.

/** Inputs that are under way into a turn that runs: a program takes them between two calls of its model. */
export const SESSION_STEERS = 20;
/** Checkpoints one session keeps; the oldest go first. What was saved as salvage stays whatever becomes of them. */
export const SESSION_CHECKPOINTS = 100;
/** A record that is handed over to another program: what a person would read in a quarter of an hour. */
export const HAND_OVER_CHARS = 60_000;
/** One thing that was said in it, the goal beside. */
export const HAND_OVER_PART_CHARS = 4_000;
/** Inputs, answers and changed files in it. */
export const HAND_OVER_INPUTS = 20;
export const HAND_OVER_ANSWERS = 5;
export const HAND_OVER_FILES = 200;
/** Events of a log that are looked through for it, newest first. */
export const HAND_OVER_EVENTS = 20_000;
/** What of a log is told again in a fork, newest first, in one transaction: events, and characters of them. */
export const FORK_EVENTS = 2_000;
export const FORK_LOG_CHARS = 16_000_000;
/** Forks of forks in which a large text is looked for. */
export const FORK_HOPS = 10;
/** Turns that it has of the other session. */
export const FORK_TURNS = 1_000;
/** How long somebody who goes back waits for it: a program that ends, and a large checkout. */
export const REWIND_MS = 600_000;
/** How long files that lie elsewhere may take to be brought here for a checkpoint: a turn waits for it. */
export const CHECKPOINT_SYNC_MS = 30_000;
/** Looks at files of sessions whose files can be asked for one by one; a page asks for one look at a time. */
export const LOOKS = 500;
/** A title: one line of a list. */
export const SESSION_TITLE_CHARS = 60;
/** How much of a first input a model is shown that is asked for a title, and how long it may take. */
export const TITLE_ASKED_CHARS = 4_000;
export const TITLE_CALL_MS = 30_000;
/** How long somebody who closes a session waits for the proof. */
export const CLOSE_PROOF_MS = 20_000;
