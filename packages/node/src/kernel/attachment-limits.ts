// Bounds of files that are given to sessions. What is beyond is refused.

/** One image: what the strictest of the model providers takes. */
export const ATTACHMENT_IMAGE_BYTES = 5 * 1024 * 1024;
/** All images of one input: as base64 they fit one line to a program, and its echo. */
export const ATTACHMENT_INPUT_IMAGE_BYTES = 8 * 1024 * 1024;
/** One other file: it is held in memory once when it is carried into an environment. */
export const ATTACHMENT_FILE_BYTES = 32 * 1024 * 1024;
/** Files of one session, and their bytes. */
export const ATTACHMENTS_PER_SESSION = 500;
export const ATTACHMENT_SESSION_BYTES = 1024 ** 3;
/** An input as a line to its program, with room for its frame: a keeper takes 16 MiB at once. */
export const SESSION_INPUT_BYTES = 15 * 1024 * 1024;
