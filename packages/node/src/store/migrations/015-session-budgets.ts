import type { Migration } from './migration.ts';

const sql = `
ALTER TABLE session ADD COLUMN budget_usd REAL;
ALTER TABLE session ADD COLUMN max_turns INTEGER;
ALTER TABLE session ADD COLUMN spent TEXT;
`;

/** What a session may cost, and how many turns it may have. */
export const sessionBudgets: Migration = { number: 15, name: 'session-budgets', sql };
