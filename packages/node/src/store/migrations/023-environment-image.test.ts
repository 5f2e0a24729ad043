import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { migrate } from '../sqlite/migrate.ts';
import { migrations } from './index.ts';

it('environments that are there already were asked for with no image, whatever they are made from', () => {
  const db = new Database(':memory:');
  migrate(db, { steps: migrations.filter(({ number }) => number <= 22), nowMs: 1 });
  db.exec(`INSERT INTO named_environment (id, request_id, intent, name, project_id, backend, image, state, setup, branch, ports, wanted, created_at, changed_at, used_at)
    VALUES ('env_a', 'r', '{}', 'a', 'prj_1', 'docker', 'of-the-project:1', 'ready', '{}', 'b', '{}', 'running', 1, 1, 1)`);
  migrate(db, { steps: migrations, nowMs: 2 });
  expect(db.prepare('SELECT id, image, image_asked FROM named_environment').all()).toEqual([
    { id: 'env_a', image: 'of-the-project:1', image_asked: null },
  ]);
  db.close();
});
