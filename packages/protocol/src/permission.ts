import { z } from 'zod';

// What an agent may do, and what becomes of what it asks.

/** What an agent may do without asking: `ask` before each tool that changes something, `edits` without asking for edits of files, `all`, or only `plan`. */
export const permissionMode = z.enum(['ask', 'edits', 'all', 'plan']);
export type PermissionMode = z.output<typeof permissionMode>;

/**
 * What becomes of what an agent asks when nobody is there, declared before: it waits for a person until its time is up;
 * everything is declined at once and the agent goes on; or questions are declined, and what needs a permission is denied
 * and fails the turn.
 */
export const unattended = z.enum(['wait', 'decline', 'fail']);
export type Unattended = z.output<typeof unattended>;
