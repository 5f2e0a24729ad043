import type { Insertable, Kysely } from 'kysely';
import type { Tables, TokenTable } from '../store/tables.ts';
import type { TokenRow } from './model.ts';

export const findTokenByHash = async (db: Kysely<Tables>, hash: string): Promise<TokenRow | null> =>
  (await db.selectFrom('token').selectAll().where('hash', '=', hash).executeTakeFirst()) ?? null;

export const findToken = async (db: Kysely<Tables>, id: string): Promise<TokenRow | null> =>
  (await db.selectFrom('token').selectAll().where('id', '=', id).executeTakeFirst()) ?? null;

export const listTokens = (db: Kysely<Tables>): Promise<TokenRow[]> =>
  db.selectFrom('token').selectAll().orderBy('created_at').orderBy('id').execute();

export const insertToken = async (db: Kysely<Tables>, row: Insertable<TokenTable>): Promise<void> => {
  await db.insertInto('token').values(row).execute();
};

export const deleteToken = async (db: Kysely<Tables>, id: string): Promise<void> => {
  await db.deleteFrom('token').where('id', '=', id).execute();
};

export const touchToken = async (db: Kysely<Tables>, { id, atMs }: { id: string; atMs: number }): Promise<void> => {
  await db.updateTable('token').set({ last_used_at: atMs }).where('id', '=', id).execute();
};
