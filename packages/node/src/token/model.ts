// Glossary. A token is what a client shows to be let in: `orr_<scope>_<64 hex digits>`. The node keeps its SHA-256 only.
// The owner token is made at the first start and lies in a file that only the node's user can read.

import { createHash, timingSafeEqual } from 'node:crypto';
import { scopes, type Scope, type TokenView } from '@orrery/protocol';
import type { Selectable } from 'kysely';
import { toInstant } from '../kernel/clock.ts';
import { randomHex, type Random } from '../kernel/random.ts';
import type { TokenTable } from '../store/tables.ts';

export type TokenRow = Selectable<TokenTable>;

/** Bytes of chance in a token: beyond guessing, so that a fast hash is enough. */
const TOKEN_RANDOM_BYTES = 32;
const form = new RegExp(`^orr_(${scopes.join('|')})_[0-9a-f]{${TOKEN_RANDOM_BYTES * 2}}$`);

/** Makes a token of a scope. */
export const makeToken = (scope: Scope, random: Random): string => `orr_${scope}_${randomHex(random, TOKEN_RANDOM_BYTES)}`;

/** Whether a text has the form of a token. */
export const isToken = (text: string): boolean => form.test(text);

/** What is stored of a token. */
export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex');

/** Compares two hashes in a time that tells nothing about where they differ. */
export const sameHash = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

/** The scope of a row; a row that somebody edited into another word has none. */
export const scopeOf = (row: TokenRow): Scope | null => scopes.find((scope) => scope === row.scope) ?? null;

/** A token as listed. */
export const toTokenView = (row: TokenRow): TokenView => ({
  id: row.id,
  name: row.name,
  scope: scopeOf(row) ?? 'viewer',
  createdAt: toInstant(row.created_at),
  lastUsedAt: row.last_used_at === null ? null : toInstant(row.last_used_at),
  expiresAt: row.expires_at === null ? null : toInstant(row.expires_at),
});
