// Where a node dies in a session: which tests meet which points.

/** Steps of going back. */
export const rewindPoints = [
  'session-rewind-saved',
  'session-rewind-salvaged',
  'session-rewind-files',
  'session-rewound',
] as const;

/** Steps of a fork before it is recorded: a node that dies there has made none. The second one is that of programs with a memory that is copied. */
export const beforeForked = ['session-checkpoint-saved:fork', 'session-fork-kept'] as const;

/** Steps after it: the next start makes the rest. The last one is that of the same programs. */
export const afterForked = ['session-forked', 'session-run-recorded', 'session-run-going', 'session-frame-written::1'] as const;
export const CARRIED = 'session-fork-carried';

/** Those of its environment, which know no programs. */
export const forkedPlace = [
  ...['checkout-made', 'files-copied', 'place-made', 'made'].map((name) => `environment-${name}:fork`),
  ...['place-opened', 'started'].map((name) => `environment-${name}`),
] as const;
