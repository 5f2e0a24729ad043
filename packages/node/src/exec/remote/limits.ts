// Limits of remote places, each with its reason.

/** A command in a place that answers at once: making folders, looking at a run. */
export const COMMAND_MS = 60_000;
/** What such a command may answer. */
export const ANSWER_BYTES = 16 * 1024 * 1024;
/** Carrying the keeper program in: under a megabyte, over the slowest line. */
export const CARRY_MS = 5 * 60_000;
