// Bounds of what an agent program may make the node hold. Each is met with a notice, never with silence.

/** Longest line of a program's output that is read as one frame; a longer one is skipped to its end, with a notice. Bytes. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** Tool inputs and outputs stand in an event up to this size; the rest is told by its byte count. Bytes. */
export const INLINE_BODY_BYTES = 4 * 1024;

/** A model's own text or thinking of one row. Longer ones are cut with a byte count. Bytes. */
export const INLINE_TEXT_BYTES = 64 * 1024;

/** One line of the program's log as a notice. Bytes. */
export const INLINE_NOTICE_BYTES = 1024;

/** Lines of the program's log shown per turn; the others are counted. */
export const MAX_LOG_NOTICES = 20;

/** Kinds of unknown frames remembered by name per turn; the others are counted together. */
export const MAX_DRIFT_KINDS = 20;

/** Longest message of an outcome. Bytes. */
export const MAX_MESSAGE_BYTES = 2 * 1024;

/** Output of a plain command shown in one turn; the rest is counted and stays in its spool. Bytes. */
export const MAX_COMMAND_TEXT_BYTES = 8 * 1024 * 1024;

/** Entries of a plan or a to-do list. */
export const MAX_PLAN_ENTRIES = 100;

/** A name, or an entry of a plan. Bytes. */
export const MAX_NAME_BYTES = 512;

/** Sub-agents and background commands that are remembered as running. */
export const MAX_OPEN_WORKS = 64;

/** Calls of tools that are open at once in one process of a session, and files that one of them names; older ones are let go of. */
export const MAX_OPEN_CALLS = 100;

/** MCP servers of an agent: each is a program or a connection beside its own. */
export const AGENT_SERVERS = 8;
