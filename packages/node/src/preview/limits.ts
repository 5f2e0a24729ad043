// Limits of previews by name, each with its reason. Beyond one a page says which.

/** Previews of a node at once: each is an environment and a port that somebody looked at. */
export const PREVIEWS = 512;
/** Links of one preview that nobody opened yet. */
export const PREVIEW_LINKS = 16;
/** How long a link waits to be opened: long enough to copy it by hand. */
export const PREVIEW_LINK_MS = 10 * 60_000;
/** Browsers that look at one preview. */
export const PREVIEW_BROWSERS = 32;
/** How long a browser that was let in stays let in. */
export const PREVIEW_BROWSER_MS = 12 * 3_600_000;
/** Requests of one preview under way, those that wait for a connection too. */
export const PREVIEW_REQUESTS = 256;
/** Connections of one preview to its program for requests; further requests wait. Well below what an environment may have. */
export const PREVIEW_CONNECTIONS = 64;
/** Connections of one preview that stopped being HTTP: reload channels of a few open pages. */
export const PREVIEW_SOCKETS = 64;
/** Connections of browsers to all previews together. */
export const PREVIEW_CLIENTS = 1_024;
/** Headers of a request or an answer: more than any development server sends. */
export const PREVIEW_HEADER_BYTES = 64 * 1024;
/** How long a browser may take to send its headers. */
export const PREVIEW_HEADERS_MS = 10_000;
/** How long neither side may say anything before a connection is closed: longer than any reload channel is silent. */
export const PREVIEW_IDLE_MS = 30 * 60_000;
/** How long a connection to the program waits for the next request: shorter than servers wait before they close it. */
export const PREVIEW_KEPT_MS = 1_000;
