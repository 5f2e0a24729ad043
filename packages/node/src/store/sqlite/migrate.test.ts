import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { migrations, type Migration } from '../migrations/index.ts';
import { migrate, schemaVersion } from './migrate.ts';

const one: Migration = { number: 1, name: 'one', sql: 'CREATE TABLE a (x INTEGER)' };
const two: Migration = { number: 2, name: 'two', sql: 'CREATE TABLE b (x INTEGER)' };

describe('migrations', () => {
  it('are numbered from 1 without gaps', () => {
    expect(migrations.map(({ number }) => number)).toEqual(migrations.map((_, index) => index + 1));
  });

  it('run once each, in order, with a record', () => {
    const db = new Database(':memory:');
    migrate(db, { steps: [one], nowMs: 5 });
    migrate(db, { steps: [one, two], nowMs: 6 });
    migrate(db, { steps: [one, two], nowMs: 7 });
    expect(db.prepare('SELECT * FROM schema_migration').all()).toEqual([
      { number: 1, name: 'one', applied_at: 5 },
      { number: 2, name: 'two', applied_at: 6 },
    ]);
    db.close();
  });

  it('leave the schema before a step that fails', () => {
    const db = new Database(':memory:');
    const broken: Migration = { number: 2, name: 'broken', sql: 'CREATE TABLE b (x INTEGER); CREATE TABLE a (x INTEGER)' };
    expect(() => migrate(db, { steps: [one, broken], nowMs: 5 })).toThrow('already exists');
    expect(schemaVersion(db)).toBe(1);
    expect(db.prepare("SELECT name FROM sqlite_master WHERE name = 'b'").get()).toBeUndefined();
    db.close();
  });
});
