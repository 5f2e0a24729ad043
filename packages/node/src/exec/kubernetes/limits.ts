// Limits of the backend `kubernetes`, each with its reason.

/** A connection to the API server that is not made by then is not made. */
export const DIAL_MS = 30_000;
/** A line on which nothing was heard for two of these is dead. */
export const PING_MS = 30_000;
/** The cluster sends at most 32 KiB at once; a message beyond this is not of this protocol. */
export const FRAME_BYTES = 16 * 1024 * 1024;
/** What is kept of what a command says on stderr. */
export const STDERR_BYTES = 8192;
/** Between two looks at a pod that starts or goes. */
export const POLL_MS = 300;
/** Between two tries for room in the namespace. */
export const QUOTA_POLL_MS = 5_000;
/** A pod that was deleted is gone by then, or nobody can tell. */
export const GONE_MS = 120_000;
