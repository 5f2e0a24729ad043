/** Browsers that are told by push, of one node. */
export const PUSH_BROWSERS = 50;
/** How long a push service may take to answer. */
export const PUSH_CALL_MS = 10_000;
/** How long a push service keeps a message for a device that is away, s: a question that is older is found in the Inbox. */
export const PUSH_TTL_S = 6 * 3600;
/** What of a service's answer is told as its reason. */
export const PUSH_REASON_BYTES = 300;
