import { createHash } from 'node:crypto';

/** JSON with sorted keys and undefined left out: the same intent gives the same text. */
export const canonicalJson = (value: unknown): string => JSON.stringify(sorted(value));

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, item]) => [key, sorted(item)]));
};

/** SHA-256 of an intent's canonical JSON, hex: tells a repeated request from another one under the same id. */
export const intentHash = (intent: unknown): string => createHash('sha256').update(canonicalJson(intent)).digest('hex');
