// Bounds of what is known of the accounts that models are paid by.

/** How long a usage limit is taken to hold when nobody said until when; each time it is met again, twice as long. */
export const USAGE_LIMIT_MS = 15 * 60_000;
/** How long everybody else waits for the one that was let go to find out whether a limit is over; then another one is. */
export const USAGE_PROBE_MS = 15 * 60_000;
/** The longest that becomes: the windows of most providers are some hours. */
export const USAGE_LIMIT_MOST_MS = 4 * 3_600_000;
/** The longest wait that a provider's own word makes: a window of a month, and a clock that is wrong. */
export const USAGE_LIMIT_FAR_MS = 31 * 86_400_000;
/** Attempts after which a task that met a usage limit is not tried again by itself. */
export const USAGE_LIMIT_ATTEMPTS = 20;
