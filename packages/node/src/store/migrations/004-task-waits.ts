import type { Migration } from './migration.ts';

/** What tasks wait for: other tasks and instants; and the series that a task is of. */
export const taskWaits: Migration = {
  number: 4,
  name: 'task-waits',
  sql: `
CREATE TABLE task_wait (
  task_id TEXT NOT NULL REFERENCES task (id),
  awaits TEXT NOT NULL REFERENCES task (id),
  kind TEXT NOT NULL,
  PRIMARY KEY (task_id, awaits)
);
CREATE INDEX task_wait_awaits ON task_wait (awaits);
CREATE INDEX queue_not_before ON queue_entry (not_before) WHERE not_before > 0;

ALTER TABLE task ADD COLUMN series TEXT;
CREATE INDEX task_series ON task (project_id, series, key) WHERE series IS NOT NULL;
`,
};
