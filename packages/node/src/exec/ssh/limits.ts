// Limits of the backend ssh, each with its reason.

/** Sessions on one connection by default. Servers allow ten (MaxSessions); one is the connection's own. */
export const SESSIONS_PER_CONNECTION = 8;
/** A connection nobody uses is given back after this time: long enough for what follows at once, and making another is cheap. */
export const IDLE_MS = 10_000;
/** From starting the client to the first word of the host: name look-up, jump hosts, keys. */
export const CONNECT_MS = 60_000;
/** What start-up files may print before a command begins. */
export const GREETING_BYTES = 64 * 1024;
/** What is kept of what a command says to stderr. */
export const STDERR_BYTES = 8192;
/** One small command on the host. */
export const HOST_COMMAND_MS = 60_000;
/** The keeper program over the slowest line. */
export const CARRY_MS = 5 * 60_000;
/** Ending what runs in an environment and removing its files. */
export const REMOVE_MS = 10 * 60_000;
/** How long the last words of a client that ended without a connection are waited for. */
export const LAST_WORDS_MS = 1_000;
