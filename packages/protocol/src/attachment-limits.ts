// Bounds of files that are given to sessions, for whoever says them before a file is sent. What is beyond is refused.

/** Most attachments of one input. */
export const MAX_TURN_ATTACHMENTS = 20;
/** One image: what the strictest of the model providers takes. */
export const ATTACHMENT_IMAGE_BYTES = 5 * 1024 * 1024;
/** All images of one input: as base64 they fit one line to a program, and its echo. */
export const ATTACHMENT_INPUT_IMAGE_BYTES = 8 * 1024 * 1024;
/** One other file: it is held in memory once when it is carried into an environment. */
export const ATTACHMENT_FILE_BYTES = 32 * 1024 * 1024;
/** Of one attachment in one answer. */
export const ATTACHMENT_PART_BYTES = 1024 * 1024;
