import type { Migration } from './migration.ts';

const sql = `ALTER TABLE named_environment ADD COLUMN egress TEXT NOT NULL DEFAULT '[]';`;

/** Hosts that an environment was asked for with, beside those of its project: those of the agent that it is made for. */
export const environmentEgress: Migration = { number: 20, name: 'environment-egress', sql };
