// Limits of remote places, each with its reason.

/** A command in a place that answers at once: making folders, looking at a run. */
export const COMMAND_MS = 60_000;
/** What such a command may answer. */
export const ANSWER_BYTES = 16 * 1024 * 1024;
/** Carrying the keeper program in: under a megabyte, over the slowest line. */
export const CARRY_MS = 5 * 60_000;
/** How long a place may be out of reach before what waits for it gives up: an outage, not a blip. The place stays. */
export const UNREACHABLE_MS = 30 * 60_000;
/** Pauses between tries to reach a place again: the first, and the longest. */
export const RETRY_FIRST_MS = 100;
export const RETRY_MOST_MS = 5_000;
/** How long a keeper behind a fresh connection may take to greet: the connection is made meanwhile. */
export const GREETING_MS = 60_000;
/** How often a silent connection is asked whether it lives, and how long it may take to say so. */
export const HEARTBEAT_MS = 20_000;
export const HEARTBEAT_ANSWER_MS = 40_000;
/** Output that may wait in the node for one reader; more is left in the place and fetched again later. */
export const VIEW_BUFFER_BYTES = 1024 * 1024;
/** How long a keeper in a place may take to end its tree before it is ended itself. */
export const REMOTE_KILL_MS = 30_000;
/** One tree that is brought to a place or back: a large repository with what it builds. */
export const STAGED_BYTES = 32 * 1024 ** 3;
/** Its files, folders and links. */
export const STAGED_ENTRIES = 2_000_000;
/** How long one transfer may take. */
export const STAGE_MS = 60 * 60_000;
/** Packs of borrowed objects that are kept for the next environments: each may be as large as a repository. */
export const KEPT_PACKS = 8;
/** Ports for the broker in places whose loopback is shared with others: below those that systems give out by themselves. */
export const SHARED_PORT_FIRST = 20_000;
export const SHARED_PORT_LAST = 32_000;
/** How often the way to the broker is asked for a sign of life, and after what silence its other end leaves by itself. */
export const RELAY_PING_MS = 20_000;
export const RELAY_SILENCE_MS = 90_000;
