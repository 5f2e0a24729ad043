import type { Migration } from './migration.ts';

const sql = `
ALTER TABLE session ADD COLUMN held INTEGER NOT NULL DEFAULT 0;
`;

/** A session that a person closed keeps what waits until somebody lets it go on. */
export const heldQueues: Migration = { number: 11, name: 'held queues', sql };
