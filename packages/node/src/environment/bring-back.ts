import { OrreryError } from '@orrery/protocol';
import type { EnvironmentParts } from './doors.ts';
import type { NamedRow } from './model.ts';

/**
 * Makes the files of this machine what an open environment elsewhere has, before they are looked at or copied. One whose
 * place is gone has nothing more than they have. Rejects with `backend_unreachable` when nobody can tell.
 */
export const bringBack = async ({ conductor }: Pick<EnvironmentParts, 'conductor'>, row: NamedRow): Promise<void> => {
  if (row.open === 0) return;
  try {
    await (await conductor().open(row)).sync();
  } catch (thrown) {
    if (thrown instanceof OrreryError && (thrown.code === 'keeper_lost' || thrown.code === 'not_found')) return;
    throw thrown;
  }
};
