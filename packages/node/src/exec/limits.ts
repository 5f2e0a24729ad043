// Limits of running programs, each with its reason.

/** Unread output per stream at which a program is paused: a minute of a busy agent, small beside the disk. */
export const SPOOL_WINDOW_BYTES = 64 * 1024 * 1024;
/** How long a prepared program waits for the node to store its identity. */
export const GO_TIMEOUT_MS = 30_000;
/** How long a keeper stays after its program's end, for a node that is away; its files stay in any case. */
export const RELEASE_TIMEOUT_MS = 10 * 60_000;
/** How long a program's new connection waits for a node that is being restarted. */
export const BROKER_HOLD_MS = 5 * 60_000;
/** Connections of one run that may wait for the node. */
export const BROKER_HOLD_MAX = 64;
/** The broker's port in a run with a network of its own. */
export const SANDBOX_FRONT_PORT = 7777;
/** How long a program may take to accept a connection to its port. */
export const CONNECT_PORT_MS = 15_000;
/** How long a look at the disk of an environment may take when somebody asks for it: longer, and it is not told. */
export const DISK_LOOK_MS = 10_000;
/** How long what was seen then is told again. */
export const DISK_LOOK_KEPT_MS = 30_000;
/** One file that is carried into an environment. */
export const PROVIDED_FILE_BYTES = 64 * 1024 * 1024;
