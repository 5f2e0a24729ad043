// The only writer of `run_token`. Tokens are random, stored hashed, bound to one environment and dead when it ends; the
// store has them, so they outlive a restart of the node.

import { createHash } from 'node:crypto';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { Random } from '../kernel/random.ts';
import type { Store, Tx } from '../store/store.ts';
import type { RunTokenTable, Tables } from '../store/tables.ts';
import { parseEgressRule } from './egress-rules.ts';
import { createRemembered } from './remembered.ts';
import type { Grants, LiveRule, TokenIdentity, TokenKind } from './model.ts';

const TOKEN_BYTES = 32;
const PREFIX: Readonly<Record<TokenKind, string>> = { run: 'orr_', egress: 'ore_' };

const grantsSchema = z.object({
  models: z.array(z.string()).nullable(),
  budgetUsd: z.number().nullable(),
  egress: z.array(z.string()),
  live: z.array(z.object({ rule: z.string(), decision: z.enum(['allow', 'deny']) })).default([]),
  upstream: z.string().nullable().default(null),
  harness: z.string().nullable().default(null),
  mcp: z.array(z.string()).default([]),
});

/** What is known of a token that was shown. */
export type FoundToken =
  | { readonly state: 'live'; readonly identity: TokenIdentity }
  | { readonly state: 'ended'; readonly identity: TokenIdentity }
  | { readonly state: 'unknown' };

export type MintRequest = { readonly environmentId: string; readonly taskId: string } & Grants;

export type RunTokens = {
  /** Two fresh tokens of an environment; earlier ones of it end in the same transaction. @throws OrreryError config_invalid for an egress rule that is none */
  mint(asked: MintRequest): Promise<{ readonly run: string; readonly egress: string }>;
  /** Ends all tokens of an environment. Repeatable. */
  end(environmentId: string): Promise<void>;
  find(token: string, kind: TokenKind): Promise<FoundToken>;
  /** The live egress token of an environment, or of the newest open environment of a task; null when there is none. */
  egressOf(subject: EgressSubject, db?: Kysely<Tables>): Promise<TokenIdentity | null>;
  /** Changes the live rules of an environment inside a transaction; call `changed` after its commit. */
  setLive(tx: Tx, environmentId: string, live: readonly LiveRule[]): Promise<void>;
  /** The same for the budget of a task or session that runs there. */
  setBudget(tx: Tx, environmentId: string, budgetUsd: number | null): Promise<void>;
  /** What is remembered of the environment is read again. */
  changed(environmentId: string): void;
};

/** Whose egress is meant. */
export type EgressSubject = { readonly environmentId: string } | { readonly taskId: string };

export type RunTokenParts = {
  readonly store: Store;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly random: Random;
  readonly ids: Ids;
};

/** Makes the keeper of run and egress tokens. */
export const createRunTokens = ({ store, clock, random, ids }: RunTokenParts): RunTokens => {
  // Live tokens only; ending an environment forgets its own.
  const live = createRemembered<TokenIdentity>();
  let endings = 0;

  const endIn = async (tx: Tx, environmentId: string): Promise<void> => {
    await tx.db
      .updateTable('run_token')
      .set({ ended_at: clock.nowMs() })
      .where('environment_id', '=', environmentId)
      .where('ended_at', 'is', null)
      .execute();
  };
  const forget = (environmentId: string): void => {
    endings += 1;
    live.forgetIf((identity) => identity.environmentId === environmentId);
  };

  return {
    async mint({ environmentId, taskId, models, budgetUsd, egress, upstream = null, harness = null, mcp = [] }) {
      // A rule nobody can read is refused here, where somebody hears it.
      egress.forEach(parseEgressRule);
      const make = (kind: TokenKind): string => PREFIX[kind] + Buffer.from(random.bytes(TOKEN_BYTES)).toString('base64url');
      const tokens = { run: make('run'), egress: make('egress') };
      await store.transaction(async (tx) => {
        // What the operator changed holds for the environment, whichever token it has.
        const live = (await liveEgress(tx.db, { environmentId }))?.grants.live ?? [];
        const grants = JSON.stringify({ models, budgetUsd, egress, live, upstream, harness, mcp });
        await endIn(tx, environmentId);
        const row = (kind: TokenKind) => ({
          id: ids('token'),
          environment_id: environmentId,
          task_id: taskId,
          kind,
          hash: hashOf(tokens[kind]),
          grants,
          created_at: clock.nowMs(),
          ended_at: null,
        });
        await tx.db
          .insertInto('run_token')
          .values([row('run'), row('egress')])
          .execute();
      });
      forget(environmentId);
      return tokens;
    },
    async end(environmentId) {
      await store.transaction((tx) => endIn(tx, environmentId));
      forget(environmentId);
    },
    async find(token, kind) {
      if (token.length > 200 || !token.startsWith(PREFIX[kind])) return { state: 'unknown' };
      const hash = hashOf(token);
      const known = live.get(hash);
      if (known !== undefined) return { state: 'live', identity: known };
      const before = endings;
      const row = await store.read
        .selectFrom('run_token')
        .selectAll()
        .where('hash', '=', hash)
        .where('kind', '=', kind)
        .executeTakeFirst();
      if (row === undefined) return { state: 'unknown' };
      const identity = identityOf(row, kind);
      if (row.ended_at !== null) return { state: 'ended', identity };
      // A row read while an environment ended may already be old: it is not remembered.
      if (before === endings) live.set(hash, identity);
      return { state: 'live', identity };
    },
    egressOf: (subject, db) => liveEgress(db ?? store.read, subject),
    async setLive(tx, environmentId, rules) {
      const identity = await liveEgress(tx.db, { environmentId });
      if (identity === null) return;
      await tx.db
        .updateTable('run_token')
        .set({ grants: JSON.stringify({ ...identity.grants, live: rules }) })
        .where('environment_id', '=', environmentId)
        .where('kind', '=', 'egress')
        .where('ended_at', 'is', null)
        .execute();
    },
    async setBudget(tx, environmentId, budgetUsd) {
      const rows = await tx.db
        .selectFrom('run_token')
        .select(['id', 'grants'])
        .where('environment_id', '=', environmentId)
        .where('ended_at', 'is', null)
        .execute();
      for (const { id, grants } of rows)
        await tx.db
          .updateTable('run_token')
          .set({ grants: JSON.stringify({ ...grantsSchema.parse(JSON.parse(grants)), budgetUsd }) })
          .where('id', '=', id)
          .execute();
    },
    changed: forget,
  };
};

const identityOf = (row: Pick<RunTokenTable, 'environment_id' | 'task_id' | 'grants'>, kind: TokenKind): TokenIdentity => ({
  environmentId: row.environment_id,
  taskId: row.task_id,
  kind,
  grants: grantsSchema.parse(JSON.parse(row.grants)),
});

const liveEgress = async (db: Kysely<Tables>, subject: EgressSubject): Promise<TokenIdentity | null> => {
  const live = db.selectFrom('run_token').selectAll().where('kind', '=', 'egress').where('ended_at', 'is', null);
  const mine =
    'taskId' in subject ? live.where('task_id', '=', subject.taskId) : live.where('environment_id', '=', subject.environmentId);
  const row = await mine.orderBy('created_at', 'desc').executeTakeFirst();
  return row === undefined ? null : identityOf(row, 'egress');
};

/** SHA-256 is enough: a token has 256 bits of chance. */
const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');
