/** Bounds of what a program may send and hold open. Each has an error or a sentence when it is passed. */
export const mcpLimits = {
  /** Largest message of a program, bytes: a prompt of 4 million characters, escaped, and room. */
  messageBytes: 16 * 1024 * 1024,
  /** Lines in a row that are no message; then whoever writes them does not speak the protocol. */
  badLines: 100,
  /** Calls of tools at once. */
  calls: 32,
  /** Pause between two words of life; the node counts three of them as silence. */
  beatMs: 5_000,
  /** How often it is looked whether the program is still there, while nothing is to be done. */
  restMs: 250,
  /** How long the end waits for the node to hear of it; after that it finds out by itself. */
  leaveMs: 2_000,
  /** Pause between two looks at a task that is waited for. */
  lookMs: 1_000,
  /** How long a node may be away before what waits for it fails: a restart takes seconds. */
  awayMs: 30_000,
  /** First and longest pause between two tries to find the node again. */
  pauseMs: { first: 100, longest: 2_000 },
  /** Nothing is followed. */
  streamAwayMs: 2_000,
} as const;
