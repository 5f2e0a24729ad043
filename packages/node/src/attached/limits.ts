/** How long an attached program may be silent before it counts as gone: three times the pause between what it says, so that one late word of a busy machine ends nothing. */
export const ATTACHED_SILENT_MS = 15_000;
/** How often those are looked for; a process that was killed is known to be gone after both together. */
export const ATTACHED_LOOK_MS = 2_000;
/** Programs that are attached at once: each asks for work that others wait for. */
export const ATTACHED_SESSIONS = 64;
/** Attached sessions that have ended and are still listed: the newest. */
export const ATTACHED_KEPT = 1_000;
