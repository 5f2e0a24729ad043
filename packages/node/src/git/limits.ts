// Bounds of what is read of an agent's Git directory, beside those of the whole node.

/** An agent's Git index that a checkpoint keeps: about 300,000 files. */
export const CHECKPOINT_INDEX_BYTES = 64 * 1024 * 1024;

/** Files of Git LFS that one checkout gets, one of them, and all of them together. */
export const LFS_FILES = 10_000;
export const LFS_FILE_BYTES = 4 * 1024 * 1024 * 1024;
export const LFS_BYTES = 16 * 1024 * 1024 * 1024;
/** What is kept of a project's objects for later checkouts; beyond it those go that were not used for longest. */
export const LFS_CACHE_BYTES = 32 * 1024 * 1024 * 1024;
/** Time for all objects of a checkout, and for a server that says nothing. */
export const LFS_FETCH_MS = 20 * 60_000;
export const LFS_SILENCE_MS = 60_000;
/** Objects asked for in one request, the answer to it, and objects fetched at once. */
export const LFS_BATCH = 100;
export const LFS_ANSWER_BYTES = 4 * 1024 * 1024;
export const LFS_AT_ONCE = 4;
/** Places that a server may send a download on to, one after the other. */
export const LFS_REDIRECTS = 3;
/** A pointer is smaller than this, by its definition. */
export const LFS_POINTER_BYTES = 1024;
