// Limits of talking to keepers, each with its reason; the frame sizes are those of native/keeper/WIRE.md.

/** One input: the longest payload a keeper takes in a frame. Longer input is refused, the caller splits it. */
export const INPUT_BYTES = 16 * 1024 * 1024;
/** Longest frame a keeper may send: a JSON answer or 64 KiB of output; longer is not a keeper. */
export const ANSWER_FRAME_BYTES = 1024 * 1024;
/** Longest id of an input, in bytes. */
export const INPUT_ID_BYTES = 128;
/** Output that may wait in the node for one reader before its socket is paused. */
export const OUTPUT_BUFFER_BYTES = 1024 * 1024;
/** Piece in which a spool file is read. */
export const SPOOL_READ_BYTES = 64 * 1024;
/** How long a started keeper may take to say `ready` or `refused`: a loaded machine, never a person. */
export const READY_MS = 20_000;
/** How long a living keeper may take to accept a view. */
export const CONNECT_MS = 5_000;
/** How long a keeper's process may take to be gone after it said its last word or after its socket closed. */
export const GONE_MS = 10_000;
/** How long the probe of the machine may take. */
export const PROBE_MS = 15_000;
/** A file of a keeper's directory that is read whole (status, exit, guarantees). */
export const RECORD_FILE_BYTES = 1024 * 1024;
/** The input journal: lines of one run; each input of up to 16 MiB writes two lines for every 4 KiB. */
export const JOURNAL_FILE_BYTES = 256 * 1024 * 1024;
/** How long a keeper may take to end its tree before the keeper itself is ended (its tree goes with it). */
export const KILL_MS = 10_000;
/** How often the process table is looked at while a process is expected to go. */
export const GONE_POLL_MS = 2;
/** The list of one tree: two million entries with long names. */
export const TREE_LIST_BYTES = 512 * 1024 * 1024;
/** What a failed command on a tree may say. */
export const TREE_STDERR_BYTES = 8 * 1024;
