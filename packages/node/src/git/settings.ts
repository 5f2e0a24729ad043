/** Settings that no configuration may change: whatever a repository says, nothing of it is started. */
const forcedSettings = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.untrackedCache=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'submodule.recurse=false',
  'fetch.recurseSubmodules=false',
  'diff.ignoreSubmodules=all',
  'protocol.ext.allow=never',
  'commit.gpgSign=false',
  'log.showSignature=false',
  'advice.detachedHead=false',
  // Names that another system would take for `.git` are refused whatever this one thinks of them.
  'core.protectHFS=true',
  'core.protectNTFS=true',
];

/**
 * What a command writes is on the disk when it ends: the store is told only then, and power may go at any time. Git's own
 * default leaves loose objects out.
 */
const durableSettings = ['core.fsync=committed,reference', 'core.fsyncMethod=batch'];

/**
 * Settings of commands that may meet objects of an agent's making: with them the memory of one is bounded by the size of
 * what it has to hold whole (a tree, a commit, a file below the first number), not by what a delta or zlib makes of it.
 */
const boundedSettings = [
  'core.bigFileThreshold=64m',
  'core.deltaBaseCacheLimit=32m',
  'core.packedGitWindowSize=32m',
  'core.packedGitLimit=512m',
  'pack.windowMemory=64m',
  'pack.deltaCacheSize=64m',
  'pack.threads=2',
  'index.threads=2',
];

/** What of a command decides its settings. */
type Settled = { readonly settings?: readonly string[]; readonly profile?: 'node' | 'user'; readonly readOnly?: boolean };

/** All settings of one command, in their order: of two, the later one wins. */
export const settingsOf = (call: Settled): readonly string[] => [
  ...(call.settings ?? []),
  ...forcedSettings,
  ...(call.profile === 'user' ? [] : boundedSettings),
  ...(call.readOnly === false ? durableSettings : []),
];
