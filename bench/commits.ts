import { readFileSync } from 'node:fs';

const HEADER = 32;

/** How many transactions the write-ahead log of a database holds: each ends with a frame that says the database's size. */
export const countCommits = (database: string): number => {
  const log = readFileSync(`${database}-wal`);
  if (log.length < HEADER) return 0;
  const frame = 24 + log.readUInt32BE(8);
  const salt = log.subarray(16, 24);
  let commits = 0;
  for (let at = HEADER; at + frame <= log.length; at += frame) {
    // Frames of an earlier round of the log have another salt.
    if (!log.subarray(at + 8, at + 16).equals(salt)) break;
    if (log.readUInt32BE(at + 4) !== 0) commits++;
  }
  return commits;
};
