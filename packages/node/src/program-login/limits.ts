/** An access token that ends within this time is replaced before it is used. */
export const REPLACE_BEFORE_MS = 5 * 60_000;
/** How long who gives access tokens may take. */
export const REFRESH_MS = 30_000;
/** Longest answer of it, bytes. */
export const REFRESH_ANSWER_BYTES = 256 * 1024;
/** Most that a program leaves as its login, bytes. */
export const LOGIN_FILE_BYTES = 64 * 1024;
/** How long a program may take until it says where a person is to go. */
export const PROMPT_MS = 60_000;
/** What is kept of what a program prints while it logs in: its end, characters. */
export const PRINTED_CHARS = 64 * 1024;
