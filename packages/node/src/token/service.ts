import { readFile } from 'node:fs/promises';
import type { Caller, Scope, TokenView } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { appendAudit } from '../audit/index.ts';
import type { Clock } from '../kernel/clock.ts';
import { writeDurably } from '../kernel/durable-file.ts';
import type { Ids } from '../kernel/ids.ts';
import { RATE_KEYS, TOKEN_BURST_REQUESTS, TOKEN_LAST_USED_MS, TOKEN_REQUESTS_PER_SECOND } from '../kernel/limits.ts';
import { errorFields, type Log } from '../kernel/log.ts';
import type { Random } from '../kernel/random.ts';
import { createRateLimiter } from '../kernel/rate-limiter.ts';
import type { Store } from '../store/store.ts';
import { hashToken, isToken, makeToken, sameHash, scopeOf, toTokenView, type TokenRow } from './model.ts';
import { deleteToken, findToken, findTokenByHash, insertToken, listTokens, touchToken } from './store.ts';

/** API tokens: who may call, and as what. */
export type Tokens = {
  /**
   * The caller of an `Authorization: Bearer …` header. Rejects with `unauthenticated` (absent, malformed, unknown, revoked
   * or expired: one answer for all) or `rate_limited`.
   */
  authenticate(authorization: string | undefined): Promise<Caller>;
  /** Makes a token; only its hash is kept, so the answer is the only time it is seen. */
  create(asked: {
    readonly name: string;
    readonly scope: Scope;
    readonly expiresAtMs: number | null;
    readonly actor: string;
  }): Promise<TokenView & { readonly token: string }>;
  list(): Promise<readonly TokenView[]>;
  /** Whether a token is there and has not expired. */
  lives(id: string): Promise<boolean>;
  /** Revokes at once. Rejects with `not_found`, or `conflict` for the last owner token that never expires. */
  remove(asked: { readonly id: string; readonly actor: string }): Promise<void>;
  /** Makes sure that the file (0600) holds an owner token that works; answers true when it made one. */
  ensureOwnerToken(file: string): Promise<boolean>;
};

export type TokenParts = {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly log: Log;
};

const unauthenticated = (): OrreryError =>
  new OrreryError('unauthenticated', 'The request has no valid token.', {
    rule: 'Each request carries "Authorization: Bearer orr_…".',
    fix: 'Use the token in the file owner.token of the data directory, or make one: orrery token create NAME',
  });

export const createTokens = (parts: TokenParts): Tokens => {
  const { store, clock, ids } = parts;
  const limiter = createRateLimiter({
    burst: TOKEN_BURST_REQUESTS,
    perSecond: TOKEN_REQUESTS_PER_SECOND,
    keys: RATE_KEYS,
    clock,
  });
  const touch = createTouch(parts);

  const isGood = (row: TokenRow): boolean => scopeOf(row) !== null && (row.expires_at === null || row.expires_at > clock.nowMs());

  const valid = async (token: string): Promise<TokenRow | null> => {
    const hash = hashToken(token);
    const row = await findTokenByHash(store.read, hash);
    return row !== null && sameHash(row.hash, hash) && isGood(row) ? row : null;
  };

  const create: Tokens['create'] = async ({ name, scope, expiresAtMs, actor }) => {
    if (expiresAtMs !== null && expiresAtMs <= clock.nowMs()) {
      throw new OrreryError('invalid_input', 'The token would have expired already.', { rule: 'expiresAt lies in the future.' });
    }
    const token = makeToken(scope, parts.random);
    const row: TokenRow = {
      id: ids('token'),
      name,
      scope,
      hash: hashToken(token),
      created_at: clock.nowMs(),
      last_used_at: null,
      expires_at: expiresAtMs,
    };
    await store.transaction(async ({ db }) => {
      await insertToken(db, row);
      await appendAudit(
        db,
        { actor, action: 'token.create', subject: row.id, outcome: 'done', detail: { name, scope } },
        clock.nowMs(),
      );
    });
    return { ...toTokenView(row), token };
  };

  return {
    authenticate: async (authorization) => {
      const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
      const row = token !== undefined && isToken(token) ? await valid(token) : null;
      if (row === null) throw unauthenticated();
      const waitMs = limiter.take(row.id);
      if (waitMs > 0) throw rateLimited(row, waitMs);
      touch(row);
      return { name: row.name, scope: scopeOf(row)!, token: row.id };
    },
    create,
    lives: async (id) => {
      const row = await findToken(store.read, id);
      return row !== null && isGood(row);
    },
    list: async () => (await listTokens(store.read)).map(toTokenView),
    remove: ({ id, actor }) =>
      store.transaction(async ({ db }) => {
        const row = await findToken(db, id);
        if (row === null)
          throw new OrreryError('not_found', 'There is no such token.', {
            rule: 'A token is removed by its id.',
            fix: 'orrery token list',
          });
        if (isLastOwner(row, await listTokens(db))) throw lastOwner();
        await deleteToken(db, id);
        await appendAudit(
          db,
          { actor, action: 'token.remove', subject: id, outcome: 'done', detail: { name: row.name, scope: row.scope } },
          clock.nowMs(),
        );
      }),
    ensureOwnerToken: async (file) => {
      const there = await readToken(file);
      const row = there === null ? null : await valid(there);
      if (row !== null && row.scope === 'owner') return false;
      const { token } = await create({ name: 'owner', scope: 'owner', expiresAtMs: null, actor: 'node' });
      await writeDurably(file, `${token}\n`, { mode: 0o600 });
      return true;
    },
  };
};

/** Writes "last used" at most once in `TOKEN_LAST_USED_MS` for each token, behind the request's back: a read must not wait for a write. */
const createTouch = ({ store, clock, log }: TokenParts): ((row: TokenRow) => void) => {
  const pending = new Set<string>();
  return (row) => {
    const atMs = clock.nowMs();
    if (pending.has(row.id) || (row.last_used_at !== null && atMs - row.last_used_at < TOKEN_LAST_USED_MS)) return;
    pending.add(row.id);
    store
      .transaction(({ db }) => touchToken(db, { id: row.id, atMs }))
      .catch((thrown: unknown) => log.warn('token.touch.failed', errorFields(thrown)))
      .finally(() => pending.delete(row.id));
  };
};

const readToken = async (file: string): Promise<string | null> => {
  try {
    const text = (await readFile(file, 'utf8')).trim();
    return isToken(text) ? text : null;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw thrown;
  }
};

const rateLimited = (row: TokenRow, waitMs: number): OrreryError =>
  new OrreryError('rate_limited', `The token "${row.name}" makes too many requests.`, {
    rule: `A token makes at most ${TOKEN_REQUESTS_PER_SECOND} requests a second, ${TOKEN_BURST_REQUESTS} in a burst.`,
    fix: `Try again in ${waitMs} ms.`,
    details: { retryAfterMs: waitMs },
  });

const isLastOwner = (row: TokenRow, all: readonly TokenRow[]): boolean => {
  const lasting = (one: TokenRow): boolean => one.scope === 'owner' && one.expires_at === null;
  return lasting(row) && all.filter(lasting).length === 1;
};

const lastOwner = (): OrreryError =>
  new OrreryError('conflict', 'This is the last owner token.', {
    rule: 'A node always has an owner token that does not expire.',
    fix: 'Make another first: orrery token create --scope owner NAME',
  });
