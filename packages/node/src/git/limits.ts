// Bounds of what is read of an agent's Git directory, beside those of the whole node.

/** An agent's Git index that a checkpoint keeps: about 300,000 files. */
export const CHECKPOINT_INDEX_BYTES = 64 * 1024 * 1024;
