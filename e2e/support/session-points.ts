// Where a node dies in a session: which tests meet which points.

/** Steps of going back. */
export const rewindPoints = [
  'session-rewind-saved',
  'session-rewind-salvaged',
  'session-rewind-files',
  'session-rewound',
] as const;
