import type { Migration } from './migration.ts';

/** A task keeps the definition of its agent as it was when it was asked for: a file that changes later changes nothing in it. */
export const taskAgent: Migration = { number: 18, name: 'task-agent', sql: 'ALTER TABLE task ADD COLUMN agent TEXT;' };
