import type { Migration } from './migration.ts';

const sql = `
ALTER TABLE session ADD COLUMN title TEXT;
ALTER TABLE session ADD COLUMN title_from TEXT;
`;

/** What a session is about, while nobody has named it. */
export const sessionTitles: Migration = { number: 16, name: 'session-titles', sql };
