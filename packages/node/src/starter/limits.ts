// Limits of talking to the starter; the first three are those of native/keeper/starter.c.

/** Output of one stream that may be under way: the starter reads no more of it until what came was taken. */
export const OUTPUT_WINDOW_BYTES = 256 * 1024;
/** Input of one command that may be under way. */
export const INPUT_WINDOW_BYTES = 64 * 1024;
/** Folder, arguments and environment of one command: more than the kernel takes. */
export const START_BYTES = 4 * 1024 * 1024;
/** Longest frame a starter sends: a piece of output of 64 KiB and its head. */
export const FRAME_BYTES = 64 * 1024 + 16;
/** What was taken is told in pieces of at least this size: short output never costs an answer. */
export const CREDIT_BYTES = 64 * 1024;
