// Bounds of files that are given to sessions. What is beyond is refused.

export { ATTACHMENT_FILE_BYTES, ATTACHMENT_IMAGE_BYTES, ATTACHMENT_INPUT_IMAGE_BYTES } from '@orrery/protocol/attachment-limits';

/** Files of one session, and their bytes. */
export const ATTACHMENTS_PER_SESSION = 500;
export const ATTACHMENT_SESSION_BYTES = 1024 ** 3;
/** An input as a line to its program, with room for its frame: a keeper takes 16 MiB at once. */
export const SESSION_INPUT_BYTES = 15 * 1024 * 1024;
