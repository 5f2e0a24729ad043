import { realpath } from 'node:fs/promises';
import { OrreryError } from '@orrery/protocol/errors';
import type { Kysely } from 'kysely';
import { isInside } from '../files/remove.ts';
import type { Tables } from '../store/tables.ts';
import { projectNotFound, raise, type ProjectRow } from './model.ts';
import { findProject, listSources } from './store.ts';

/** The row of an id, name or source. Rejects with `not_found`. */
export const findRow = async (db: Kysely<Tables>, reference: string): Promise<ProjectRow> =>
  (await findProject(db, reference)) ?? raise(projectNotFound(reference));

/** The row of an id, name or source, or of the nearest project that a path lies in. Rejects with `not_found`. */
export const resolveRow = async (db: Kysely<Tables>, reference: string): Promise<ProjectRow> => {
  const exact = await findProject(db, reference);
  if (exact !== undefined) return exact;
  const path = reference.startsWith('/') ? await realpath(reference).catch(() => null) : null;
  if (path === null) throw projectNotFound(reference);
  const around = (await listSources(db))
    .filter((source) => source === path || isInside(path, source))
    .sort((a, b) => b.length - a.length);
  return (around[0] === undefined ? undefined : await findProject(db, around[0])) ?? raise(projectNotFound(reference));
};

export const nameTaken = (name: string): OrreryError =>
  new OrreryError('conflict', `There is another project called ${name}.`, {
    rule: 'A name means one project.',
    fix: 'Choose another one: orrery project add FOLDER --name NAME',
  });

/** A name nobody has yet. */
export const freeName = (wanted: string, taken: ReadonlySet<string>): string => {
  if (!taken.has(wanted)) return wanted;
  for (let number = 2; ; number++) if (!taken.has(`${wanted}-${number}`)) return `${wanted}-${number}`;
};
