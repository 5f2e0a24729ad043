/** Bounds of what the client accepts and how long it waits. Each has an error when it is passed. */
export const clientLimits = {
  /** Largest JSON answer, bytes: a diff of 4 MiB with every byte escaped, and room. */
  answerBytes: 32 * 1024 * 1024,
  /** Largest frame of an event stream, bytes. */
  frameBytes: 8 * 1024 * 1024,
  /** One call, from sending to the last byte. */
  callMs: 30_000,
  /** Silence on an event stream after which it is opened again. */
  silenceMs: 60_000,
  /** How long a stream tries to come back without hearing anything. */
  awayMs: 120_000,
  /** First and longest pause between two tries. */
  pauseMs: { first: 100, longest: 5_000 },
  /** Tries of a stream that answers, but never with what was asked for. */
  wrongAnswers: 3,
} as const;
