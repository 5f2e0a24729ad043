import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import type { Store } from '../store/store.ts';

const key = 'installation';

/**
 * Makes sure that the database is the one of this data directory: the installation's id stands in both. A database of
 * another installation, or an empty one where mirrors lie already (it was lost, or restored without its log), is
 * `store_damaged`: tasks never vanish in silence.
 */
export const checkInstallation = async (
  store: Store,
  { id, dataDirectory }: { readonly id: string; readonly dataDirectory: string },
): Promise<void> => {
  const row = await store.read.selectFrom('node_state').select('value').where('key', '=', key).executeTakeFirst();
  if (row?.value === id) return;
  if (row !== undefined) throw damaged(dataDirectory, 'The database belongs to another installation.');
  const mirrors = await readdir(join(dataDirectory, 'mirrors')).catch(() => []);
  if (store.seq() === 0 && mirrors.length > 0)
    throw damaged(dataDirectory, 'The database is empty, but its data directory is not.');
  await store.transaction(async (tx) => {
    await tx.db.insertInto('node_state').values({ key, value: id }).execute();
  });
};

const damaged = (dataDirectory: string, message: string): OrreryError =>
  new OrreryError('store_damaged', message, {
    rule: 'A database and its data directory belong together; nothing is begun anew over what is there.',
    fix: `Put back orrery.db with its -wal file in ${dataDirectory}, or begin in another: orrery up --data FOLDER`,
  });
