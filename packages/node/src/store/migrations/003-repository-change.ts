import type { Migration } from './migration.ts';

/** The journal of what the node does in repositories of the user's. */
export const repositoryChange: Migration = {
  number: 3,
  name: 'repository-change',
  sql: `
CREATE TABLE repository_change (
  id TEXT PRIMARY KEY,
  project_id TEXT NOT NULL,
  repository TEXT NOT NULL,
  git_dir TEXT NOT NULL,
  common_dir TEXT NOT NULL,
  branch TEXT NOT NULL,
  tree INTEGER NOT NULL,
  old_sha TEXT,
  target_sha TEXT,
  phase TEXT NOT NULL,
  stage_device INTEGER,
  stage_inode INTEGER,
  created_at INTEGER NOT NULL
);
CREATE INDEX repository_change_place ON repository_change (repository);
`,
};
