// Every limit of the node by name, each with its reason. Beyond a limit something is refused with an error; nothing is
// dropped in silence. Units are the last word of the name.

// --- log ---
/** One log file before it is rotated: small enough to open in an editor. */
export const LOG_FILE_BYTES = 8 * 1024 * 1024;
/** Rotated log files that are kept: about a week of a busy node. */
export const LOG_FILES = 5;
/** One text field of a log line: a log is for finding things, contents are elsewhere. */
export const LOG_TEXT_CHARS = 500;

// --- store ---
/** Jobs and appends that may wait for the writer; beyond, callers are told the node is busy rather than filling memory. */
export const STORE_WAITING_JOBS = 10_000;
/** Events in one append message to the writer: a commit stays short for everyone else. */
export const STORE_BATCH_EVENTS = 2_000;
/** One event's body: a row must fit a page cache; larger bodies sit in spools and are read by part. */
export const EVENT_BODY_BYTES = 1024 * 1024;
/** How long a reader or the writer waits for a lock another process holds (a backup, a shell). */
export const STORE_BUSY_MS = 5_000;
/** Events one page of a read answers at most. */
export const EVENT_PAGE = 1_000;
/** How long a transaction may stay open before its job is ended: the writer is shared by all. */
export const STORE_TRANSACTION_MS = 10_000;

// --- configuration ---
/** A configuration file: a person writes it. */
export const CONFIG_FILE_BYTES = 1024 * 1024;
/** One secret: larger than any key or certificate chain in use. */
export const SECRET_BYTES = 64 * 1024;

// --- HTTP ---
/** A request body: the longest prompt (4 M characters) as JSON with escapes. */
export const HTTP_BODY_BYTES = 16 * 1024 * 1024;
/** How long a client may take to send a whole request: a slow one must not hold a connection for ever. */
export const HTTP_REQUEST_MS = 60_000;
/** How long a client may take to send its headers. */
export const HTTP_HEADERS_MS = 10_000;
/** Requests one token may make in a burst. */
export const TOKEN_BURST_REQUESTS = 600;
/** Requests one token may make each second on average: a screen with a hundred live rows, not a loop. */
export const TOKEN_REQUESTS_PER_SECOND = 100;
/** Failed authentications one address may make in a burst before it waits. */
export const AUTH_FAILURES_BURST = 20;
/** Names kept for counting requests: bounded memory whatever is sent. */
export const RATE_KEYS = 10_000;
/** How often "last used" of a token is written: a read must not cost a write. */
export const TOKEN_LAST_USED_MS = 60_000;

// --- event streams ---
/** Bytes that may wait for one reader: about a minute of a busy node, then the reader is disconnected with its cursor. */
export const STREAM_BUFFER_BYTES = 4 * 1024 * 1024;
/** Readers of one node. */
export const STREAM_READERS = 2_000;
/** A comment is sent after this long without an event, so that proxies and dead peers are noticed. */
export const STREAM_KEEP_ALIVE_MS = 15_000;
/** Events that may gather for one reader while its replay is read; beyond, the replay catches up first. */
export const STREAM_REPLAY_EVENTS = 500;
