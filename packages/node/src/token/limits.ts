// Limits of letting browsers in.

/** Login links that wait to be opened: a person makes one at a time. */
export const LOGIN_LINKS = 32;
/** How long a link waits: long enough to carry it to another screen. */
export const LOGIN_LINK_MS = 10 * 60_000;
/** How long a browser stays let in. */
export const LOGIN_BROWSER_MS = 30 * 24 * 3_600_000;
/** Browsers that are let in at a time. */
export const LOGIN_BROWSERS = 64;
