import type { Migration } from './migration.ts';

const sql = `ALTER TABLE named_environment ADD COLUMN image_asked TEXT;`;

/** The image that an environment was asked for with: those that were there before were asked for with none. */
export const environmentImage: Migration = { number: 23, name: 'environment-image', sql };
