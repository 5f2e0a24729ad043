// Bounds of what is asked of code hosts.

/** One question of the interface of a host: it answers within seconds, or is not well. */
export const CODEHOST_CALL_MS = 30_000;
/** An answer of the interface: thirty pull requests with their bodies. */
export const CODEHOST_ANSWER_BYTES = 8 * 1024 * 1024;
/** A push as a whole: a slow line and a large pack. */
export const PUSH_MS = 10 * 60_000;
/** How long a connection may say nothing while a push is taken in: hooks of a host run meanwhile. */
export const PUSH_SILENCE_MS = 120_000;
/** What a host says of its branches: about half a million of them. */
export const PUSH_REFS_BYTES = 32 * 1024 * 1024;
/** Lines of one answer in Git's protocol: each costs more than its four bytes here. */
export const PKT_LINES = 500_000;
/** What a host says of a push. */
export const PUSH_REPORT_BYTES = 1024 * 1024;
/** What one push sends: the largest that GitHub takes. */
export const PUSH_PACK_BYTES = 2 * 1024 * 1024 * 1024;
/** Commits of a host that are looked for in the mirror, so that what they reach is not sent again. */
export const PUSH_KNOWN = 20_000;
/** What of a host's words is shown. */
export const CODEHOST_WORDS_CHARS = 300;
/** Characters of a title and of the name of a branch that are kept. */
export const CODEHOST_TITLE_CHARS = 250;
export const CODEHOST_BRANCH_CHARS = 250;
/** How old what is known of a pull request may be before its host is asked again. */
export const PULL_FRESH_MS = 15_000;
