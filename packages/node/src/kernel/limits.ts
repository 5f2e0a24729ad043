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
/** An agent's file: its words become one argument of a program, which the kernel bounds at 128 KiB. */
export const AGENT_FILE_BYTES = 64 * 1024;
/** Agents of one folder: all of them are read for a list. */
export const AGENT_FILES = 200;
/** Skills that an agent names: their descriptions are told to the model with each conversation. */
export const AGENT_SKILLS = 16;
/** Files of one skill, and bytes of all of them: each is carried into the environment when a program starts. */
export const SKILL_FILES = 64;
export const SKILL_BYTES = 512 * 1024;
/** A configuration file: a person writes it. */
export const CONFIG_FILE_BYTES = 1024 * 1024;
/** How often the configuration file is looked at for changes: a person waits that long after saving. */
export const CONFIG_WATCH_MS = 1_000;
/** How long a changed configuration file must be still before it is read: longer than any editor writes. */
export const CONFIG_STILL_MS = 200;
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
/** Failed authentications one address may make each second on average: one in two seconds. */
export const AUTH_FAILURES_PER_SECOND = 0.5;
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
/** How long a reader may take nothing while its replay waits to be written. */
export const STREAM_STALL_MS = 30_000;
/** Events a replay reads at once, and characters after which a page ends: a page is in memory for each reader that catches up. */
export const STREAM_PAGE_EVENTS = 100;
export const STREAM_PAGE_CHARS = 64 * 1024;
/** Newest full pages of replays that are kept for readers at the same place. */
export const STREAM_PAGES_KEPT = 4;
/** How long a disconnected reader has to take what was written before the connection is cut. */
export const STREAM_LINGER_MS = 2_000;
/** How long open requests have to end when the server closes. */
export const HTTP_CLOSE_MS = 3_000;

// --- tasks and their attempts ---
/** Tasks that may wait: a runaway script is stopped before it fills the disk. */
export const QUEUE_ENTRIES = 10_000;
/** How late a task with `notBefore` may begin after the machine's clock was set or the machine slept. */
export const ALARM_LOOK_MS = 30_000;
/** How soon an instant that has passed is looked at again, when looking failed. */
export const ALARM_AGAIN_MS = 1_000;
/** A claim is renewed three times in this span; after it another node may take the work over. */
export const LEASE_MS = 30_000;
/** How long a start waits until it is known what each task does now: programs of this machine answer in milliseconds. */
export const RECOVER_KNOWN_MS = 15_000;
/** First wait before an end that could not be recorded is tried again. */
export const SETTLE_AGAIN_MS = 2_000;
/** Failures of collecting after which an attempt ends with its place left as it is. */
export const SETTLE_TRIES = 5;
/** Wait before a write that met a full disk is tried again. */
export const DISK_AGAIN_MS = 1_000;
/** Free bytes on the data directory's disk below which new work is refused. */
export const FREE_DISK_BYTES = 256 * 1024 * 1024;
/** Validation output that is kept in the record and sent back to the agent: head and tail of it. */
export const CAPTURED_BYTES = 64 * 1024;
/** One piece of output in an event. */
export const OUTPUT_EVENT_BYTES = 32 * 1024;
/** Output of one run in events; the rest is counted and stays in the capture's tail. */
export const OUTPUT_EVENTS_BYTES = 4 * 1024 * 1024;
/** Bytes of one hook before it is ended with the limit `output`. */
export const HOOK_OUTPUT_BYTES = 64 * 1024 * 1024;
/** Output of a program that is taken in with one commit: large beside what a commit costs; as rows ten times that in memory. */
export const OUTPUT_TAKEN_BYTES = 256 * 1024;
/** How long a program may go on after it was asked to end. */
export const TERMINATE_GRACE_MS = 5_000;
/** How long a program that is spoken with may take to end by itself once its turn is over and its input closed. */
export const TURN_CLOSE_MS = 5_000;
/** How long the end of a full screen is held for who looks at it. */
export const SCREEN_END_MS = 10_000;
/** Output of a full screen after which its reading position is recorded, when nothing else was to record. */
export const SCREEN_STEP_BYTES = 256 * 1024;
/** A prompt for a full screen: programs take it as an argument, and one argument is at most 128 KiB. */
export const SCREEN_PROMPT_BYTES = 100_000;
/** The last bytes of a program's stderr that explain its failure. */
export const STDERR_TAIL_BYTES = 16 * 1024;

// --- git, checkouts and saved work ---
/** One Git command that only reads: a status of 20,000 files takes two seconds on a slow disk. */
export const GIT_READ_MS = 60_000;
/** One Git command that writes a tree or copies objects. */
export const GIT_WRITE_MS = 10 * 60_000;
/** A fetch of a whole repository. */
export const GIT_FETCH_MS = 30 * 60_000;
/** Memory of one Git command that may read an agent's objects: several times what an honest repository's largest tree needs. */
export const GIT_MEMORY_BYTES = 1024 * 1024 * 1024;
/** What a Git command may answer in memory: the list of a repository's files with room to spare. */
export const GIT_OUTPUT_BYTES = 256 * 1024 * 1024;
/** The end of a Git command's stderr that is kept to explain its failure. */
export const GIT_STDERR_BYTES = 16 * 1024;
/** A patch that is shown; the rest is counted as truncated. */
export const DIFF_PATCH_BYTES = 4 * 1024 * 1024;
/** The change of one file as it is shown at first; the whole, up to the bound above, is asked for. */
export const FILE_DIFF_BYTES = 256 * 1024;
/** Files that the list of a change names; all are counted. */
export const CHANGED_FILES = 2_000;
/** One hook or project file of a commit: a person writes it. */
export const PROJECT_FILE_BYTES = 1024 * 1024;
/** Refs of an agent's Git directory that are looked at, and the size of its packed-refs. */
export const AGENT_REFS = 10_000;
export const AGENT_PACKED_REFS_BYTES = 16 * 1024 * 1024;
/** Objects an agent may hand over: what a large refactoring makes, not a copy of the internet. */
export const AGENT_OBJECTS = 500_000;
export const AGENT_OBJECTS_BYTES = 4 * 1024 * 1024 * 1024;
/** Files that were not committed and are taken of one checkout, with their bytes: as much as an agent may hand over in commits. */
export const SNAPSHOT_FILES = 500_000;
export const SNAPSHOT_BYTES = 4 * 1024 * 1024 * 1024;
/** Files that one Git command takes: in its time also on a slow disk. */
export const SNAPSHOT_BATCH = 20_000;
/** Files and folders in one checkout, ignored ones included. */
export const CHECKOUT_ENTRIES = 5_000_000;
/** Repositories inside one checkout whose own ignore rules are asked for; of more, every file is taken. */
export const NESTED_REPOSITORIES = 64;
/** Clean checkouts that are kept per project, so that the next task starts at once. */
export const WARM_SLOTS = 4;
/** One ignored file that a project has copied into its checkouts, how many there may be, and all of them together: settings, not data. */
export const COPIED_FILE_BYTES = 16 * 1024 * 1024;
export const COPIED_FILES = 1_000;
export const COPIED_BYTES = 64 * 1024 * 1024;
/** Commits of an agent's that are made anew because they hold a copied file; where there are more, their files count and not they. */
export const REWRITTEN_COMMITS = 500;
/** Submodules of one checkout, and how deep they may lie in each other. */
export const SUBMODULES = 200;
export const SUBMODULE_DEPTH = 5;
/** State of one set-up that is kept for others (`cache`), how many of a project, all of a node, and days without use after which it goes. */
export const SETUP_CACHE_BYTES = 4 * 1024 * 1024 * 1024;
export const SETUP_CACHES = 8;
export const SETUP_CACHES_BYTES = 16 * 1024 * 1024 * 1024;
export const SETUP_CACHE_DAYS = 14;
/** Days that ignored files of a released checkout are kept before retention takes them. */
export const ASIDE_DAYS = 7;
/** Saved states looked at by one retention sweep; the next sweep goes on. */
export const SALVAGE_PER_SWEEP = 10_000;
/** A lock in a mirror older than this belongs to no Git command: the longest, a fetch, has ended by then. */
export const STALE_LOCK_MS = 60 * 60_000;
/** Entries deleted before other work gets a turn. */
export const REMOVE_BATCH = 200;

// --- memory ---
/** Files of one memory: notes that people and agents read. */
export const MEMORY_ENTRIES = 10_000;
/** One file of a memory that is merged. */
export const MEMORY_FILE_BYTES = 4 * 1024 * 1024;
/** All files of one memory: each environment copies it. */
export const MEMORY_BYTES = 64 * 1024 * 1024;

// --- what a task is given and answers ---
/** A JSON Schema of a task, as JSON. */
export const SCHEMA_BYTES = 64 * 1024;
/** The input of a task, as JSON. */
export const INPUT_BYTES = 1024 * 1024;
/** The typed answer of a task, as JSON. */
export const OUTPUT_BYTES = 256 * 1024;
/** Faults of an answer that are named to the agent. */
export const SCHEMA_FAULTS = 20;
/** Longest wait for a judgement of a goal. */
export const GOAL_CALL_MS = 180_000;
/** What a judge is shown of each of task, last message and change. */
export const GOAL_EVIDENCE_CHARS = 60_000;
/** Last words of an agent that a result shows. */
export const SUMMARY_CHARS = 4_000;

// --- conversations ---
/** Files of one conversation that are kept after its task: the longest ones that fit a model's window are below it. */
export const CONVERSATION_BYTES = 16 * 1024 * 1024;
/** Files of one conversation. */
export const CONVERSATION_ENTRIES = 1_000;
/** Days that a conversation is kept after its task ended. */
export const CONVERSATION_DAYS = 30;

// --- environments of their own ---
/** Environments a node keeps: each is a checkout and a home on the disk. */
export const NAMED_ENVIRONMENTS = 1_000;
/** Log of an environment's set-ups: what people look through; beyond it is said that the rest is not kept. */
export const SETUP_LOG_BYTES = 16 * 1024 * 1024;
/** One stretch of that log in an answer. */
export const SETUP_LOG_PAGE_BYTES = 256 * 1024;
/** A lock file that is read for the content key; a larger one counts by its size and time. */
export const LOCK_FILE_BYTES = 64 * 1024 * 1024;
/** How often checkout and home of a task with a disk limit are measured: a fast program writes some gigabytes meanwhile. */
export const DISK_WATCH_MS = 2_000;
/** Measuring takes at most one in so many milliseconds of an attempt. */
export const DISK_WATCH_SHARE = 20;
/** How often the disk use of open environments is measured. */
export const DISK_MEASURE_MS = 5 * 60_000;
/** How long a start of the node waits for open environments to be found; what is out of reach is found later. */
export const FIND_AGAIN_MS = 5_000;

// --- the node ---
/** How often what is kept for a time only is looked through. */
export const RETENTION_MS = 3_600_000;

// --- sessions ---
/** Inputs of one session that wait: a person's queue, not a script's. */
export const SESSION_QUEUE = 100;
/** Characters of all inputs of one session that wait. */
export const SESSION_QUEUE_CHARS = 8_000_000;
/** One input as a line for a program: below what the keeper takes at once and what programs read (16 MiB), with room for the frame around it. */
export const SESSION_LINE_BYTES = 12 * 1024 * 1024;
/** How long the program of a session may live: sessions are left open for weeks; closing one wakes it anew. */
export const SESSION_PROGRAM_MS = 30 * 86_400_000;
/** Output of one program of a session: it is read and let go as it comes, so only a runaway meets this. */
export const SESSION_OUTPUT_BYTES = 1024 ** 4;
/** How long a program without a turn stays awake. */
export const SESSION_IDLE_MS = 15 * 60_000;
/** How long a question waits for a person. */
export const SESSION_ANSWER_SECONDS = 24 * 3_600;
/** How often the clock is looked at for sessions. */
export const SESSION_TICK_MS = 1_000;
/** How long a program may take to end once its input is closed. */
export const SESSION_CLOSE_MS = 5_000;
/** How long a turn that is asked to stop may say nothing before its program is ended. */
export const SESSION_INTERRUPT_MS = 10_000;
/** How long a turn that is asked to stop may go on talking before its program is ended. */
export const SESSION_STOP_MS = 60_000;
/** Questions of one session that wait for a person; more are denied. */
export const SESSION_OPEN_ASKS = 100;
/** A command, or what belongs to a question beside it: what a person can read. */
export const SESSION_ASK_BYTES = 64 * 1024;
/** A line of a question: its title, a path, a choice. */
export const SESSION_ASK_TITLE_BYTES = 1024;
/** Paths or choices of one question. */
export const SESSION_ASK_ITEMS = 100;
/** Starts in a row that end before the program takes anything: then the session failed, and a person looks. */
export const SESSION_FAILED_STARTS = 3;
/** How long a program may take until it says that it takes prompts: a cold start on a busy machine takes seconds. */
export const SESSION_START_MS = 180_000;

// --- archives of lost places ---
/** Paths of an archive that are told: what a person reads through. */
export const ARCHIVE_PATHS = 1_000;
/** Longest name of a transcript's row that is kept as it is, characters; a longer one is known by its hash. */
export const ROW_NAME_CHARS = 200;
/** Characters of one row that a search finds; what stands behind them is not found by its words. */
export const SEARCH_ROW_CHARS = 8 * 1024;
/** Words and phrases of one search, and its characters. */
export const SEARCH_TERMS = 16;
export const SEARCH_CHARS = 400;
/** How often a session's readers are told of text that is being written, ms: 20 times a second at most. */
export const LIVE_FRAME_MS = 50;
/** Characters of one row that are shown while it is written; what is longer is shown when it is stored. */
export const LIVE_ROW_CHARS = 64 * 1024;
/** Rows of one session that are shown while they are written. */
export const LIVE_ROWS = 32;
/** Bytes that may wait for a reader before live text is left for later, when it takes some again. */
export const LIVE_BACKLOG_BYTES = 64 * 1024;
/** Bytes that are kept of one text of a session that is too large for its event; the rest is told by its count. */
export const DETAIL_BYTES = 8 * 1024 * 1024;
/** Bytes of such texts that one session keeps; further ones are told by their beginning and end alone. */
export const SESSION_DETAIL_BYTES = 1024 * 1024 * 1024;
/** Bytes of one piece of such a text: what a reader of a part reads at least. */
export const DETAIL_PIECE_BYTES = 64 * 1024;
