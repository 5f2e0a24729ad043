import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { migrate } from '../sqlite/migrate.ts';
import { migrations } from './index.ts';

it('gives events that are there already their place among the rows, and their words', () => {
  const db = new Database(':memory:');
  migrate(db, { steps: migrations.filter(({ number }) => number <= 6), nowMs: 1 });
  db.exec(`INSERT INTO session (key, id, request_id, intent_hash, name, project_id, environment_id, owns_environment, harness, mode, state, catalogue, created_at, changed_at)
    VALUES (1, 'ses_a', 'r', '', 'n', 'prj_1', 'env_1', 1, 'claude', 'ask', 'idle', '{}', 1, 1)`);
  const insert = db.prepare('INSERT INTO event (seq, at, session_key, sequence, turn, kind, body) VALUES (?, 1, 1, ?, 1, ?, ?)');
  const bodies = [
    { kind: 'user', text: 'please look' },
    { kind: 'text', row: 'm1', text: 'half' },
    { kind: 'tool.call', row: 'm1', tool: 'shell', input: 'make' },
    { kind: 'text', row: 'm1', text: 'half and whole' },
  ];
  bodies.forEach((body, index) => insert.run(index + 1, index + 1, body.kind, JSON.stringify(body)));
  migrate(db, { steps: migrations, nowMs: 2 });
  expect(db.prepare('SELECT sequence, row, row_first AS first FROM event ORDER BY seq').all()).toEqual([
    { sequence: 1, row: null, first: 1 },
    { sequence: 2, row: 'text m1', first: 2 },
    { sequence: 3, row: 'tool.call m1', first: 3 },
    { sequence: 4, row: 'text m1', first: 2 },
  ]);
  expect(db.prepare('SELECT rowid, words, scope FROM session_words ORDER BY rowid').all()).toEqual([
    { rowid: 1, words: 'please look', scope: 's1 pprj1' },
    { rowid: 3, words: 'shell make', scope: 's1 pprj1' },
    { rowid: 4, words: 'half and whole', scope: 's1 pprj1' },
  ]);
  expect(() => db.exec('UPDATE event SET turn = 2')).toThrowError('events are append-only');
  db.close();
});
