import type { Migration } from './migration.ts';

const sql = `
ALTER TABLE interaction ADD COLUMN answers TEXT;
ALTER TABLE session ADD COLUMN unattended TEXT NOT NULL DEFAULT 'wait';
`;

/** Answers of several questions, and what becomes of what a session asks when nobody is there. */
export const answers: Migration = { number: 9, name: 'answers', sql };
