import { OrreryError } from '@orrery/protocol/errors';
import {
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
} from 'kysely';
import type { Tables } from '../tables.ts';
import type { Result, SqlValue } from './messages.ts';

/** Runs one statement on the writer and answers its result, or rejects with the error for callers. */
export type RunSql = (sql: string, parameters: readonly SqlValue[]) => Promise<Extract<Result, { kind: 'rows' }>>;

const refuse = (): Promise<never> =>
  Promise.reject(
    new OrreryError('internal', 'A transaction was begun inside a transaction.', {
      rule: 'The use case that starts a transaction opens it and passes it down.',
    }),
  );

/** A query builder whose statements run on the writer, inside the job that it was made for. */
export const remoteKysely = (run: RunSql): Kysely<Tables> => {
  const connection: DatabaseConnection = {
    executeQuery: async <Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> => {
      const { rows, changes, insertId } = await run(sql, parameters as readonly SqlValue[]);
      return {
        rows: rows as Row[],
        numAffectedRows: changes === null ? undefined : BigInt(changes),
        insertId: insertId === null ? undefined : BigInt(insertId),
      };
    },
    streamQuery: async function* () {
      yield await refuse();
    },
  };
  const driver: Driver = {
    init: async () => undefined,
    acquireConnection: async () => connection,
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    savepoint: refuse,
    releaseConnection: async () => undefined,
    destroy: async () => undefined,
  };
  return new Kysely<Tables>({
    dialect: {
      createDriver: () => driver,
      createQueryCompiler: () => new SqliteQueryCompiler(),
      createAdapter: () => new SqliteAdapter(),
      createIntrospector: (db) => new SqliteIntrospector(db),
    },
  });
};
