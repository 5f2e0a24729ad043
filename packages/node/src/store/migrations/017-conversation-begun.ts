import type { Migration } from './migration.ts';

/** When the conversation of a session began: some programs cannot take one up again at once. Null: before this was kept. */
export const conversationBegun: Migration = {
  number: 17,
  name: 'conversation-begun',
  sql: 'ALTER TABLE session ADD COLUMN conversation_at INTEGER;',
};
