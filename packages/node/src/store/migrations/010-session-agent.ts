import type { Migration } from './migration.ts';

/** A session keeps the definition of its agent as it was when it was begun: a file that changes later changes nothing in it. */
export const sessionAgent: Migration = { number: 10, name: 'session-agent', sql: 'ALTER TABLE session ADD COLUMN agent TEXT;' };
