// Bounds of calls of models.

/** How long a model may be silent inside one answer before a program gives the call up. Milliseconds. */
export const MODEL_QUIET_MS = 300_000;
