import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLog, errorFields, openLogFile } from './log.ts';

const clock = { nowMs: () => 0 };

describe('the log', () => {
  it('writes JSON lines with the common fields, and nothing below its level', () => {
    const lines: string[] = [];
    const log = createLog({ sink: { write: (line) => lines.push(line), close: () => undefined }, clock, level: 'info' });
    log.debug('quiet');
    log.with({ taskId: 'tsk_1' }).warn('queue.slow', { tookMs: 12, long: 'x'.repeat(600) });
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        at: '1970-01-01T00:00:00.000Z',
        level: 'warn',
        event: 'queue.slow',
        taskId: 'tsk_1',
        tookMs: 12,
        long: `${'x'.repeat(500)}…`,
      },
    ]);
  });

  it('does not fail the work when the sink fails', () => {
    const log = createLog({
      sink: {
        write: () => {
          throw new Error('full');
        },
        close: () => undefined,
      },
      clock,
    });
    expect(() => log.error('any')).not.toThrow();
  });

  it('says the kind and place of an error, never its text', () => {
    const fields = errorFields(Object.assign(new Error('the secret prompt'), { code: 'EPIPE' }));
    expect(fields).toMatchObject({ code: 'internal', error: 'Error', system: 'EPIPE' });
    expect(JSON.stringify(fields)).not.toContain('prompt');
    expect(errorFields(new OrreryError('not_found', 'x'))).toMatchObject({
      code: 'not_found',
      error: 'OrreryError',
      system: null,
    });
  });
});

describe('the log file', () => {
  let directory = '';
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'orrery-log-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('is private, rotates by size and keeps a bounded number of files', () => {
    const path = join(directory, 'node.log');
    const sink = openLogFile({ path, maxBytes: 20, files: 2 });
    for (let n = 1; n <= 9; n++) sink.write(`line ${n}....\n`);
    sink.close();
    expect(readdirSync(directory).toSorted()).toEqual(['node.log', 'node.log.1', 'node.log.2']);
    expect(readFileSync(path, 'utf8')).toBe('line 9....\n');
    expect(readFileSync(`${path}.2`, 'utf8')).toBe('line 7....\n');
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('goes on after what was there', () => {
    const path = join(directory, 'node.log');
    for (const line of ['a\n', 'b\n']) {
      const sink = openLogFile({ path });
      sink.write(line);
      sink.close();
    }
    expect(readFileSync(path, 'utf8')).toBe('a\nb\n');
  });
});
