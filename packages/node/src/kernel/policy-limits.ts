// Limits of policy files, each with its reason. A file beyond one of them cannot be used, and what cannot be used allows nothing.

/** Files of one folder: all of them are read before each decision. */
export const POLICY_FILES = 100;
/** Rules of one file: each is looked at for each question. */
export const POLICY_RULES = 1_000;
/** Base commits whose files are kept in memory: about the sessions that are awake. */
export const POLICY_COMMITS = 64;
