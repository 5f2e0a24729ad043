import type { Migration } from './migration.ts';

const sql = `
CREATE TABLE account_limit (
  account TEXT PRIMARY KEY,
  until INTEGER NOT NULL,
  told INTEGER NOT NULL,
  strikes INTEGER NOT NULL,
  since INTEGER NOT NULL,
  met_at INTEGER NOT NULL,
  lifted INTEGER NOT NULL
);
ALTER TABLE session ADD COLUMN past_limit INTEGER;
ALTER TABLE queue_entry ADD COLUMN past_limit INTEGER NOT NULL DEFAULT 0;
`;

/** What an account's usage limit keeps waiting. */
export const accountLimits: Migration = { number: 14, name: 'account-limits', sql };
