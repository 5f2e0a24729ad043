/** Bounds of what an editor may send and hold open. Each has an error or a sentence when it is passed. */
export const acpLimits = {
  /** Largest message of an editor, bytes: a prompt of 4 million characters, escaped, and room. */
  messageBytes: 16 * 1024 * 1024,
  /** Sessions that one editor has open at once: each follows its log. */
  sessions: 32,
  /** Longest prompt, characters (the node's own bound). */
  promptChars: 4_000_000,
  /** Events of a session that are told again when it is loaded, newest last. */
  replayEvents: 20_000,
  /** How long a node may be away before what waits for it fails. */
  awayMs: 600_000,
  /** First and longest pause between two tries to find the node again. */
  pauseMs: { first: 100, longest: 2_000 },
  /** How long one connection to the node's events tries by itself before the node is looked for again. */
  streamAwayMs: 2_000,
  /** Rows whose text so far is remembered, to send only what is new. */
  rows: 256,
  /** Longest title of a tool call, characters. */
  titleChars: 200,
} as const;
