import { expect, it } from 'vitest';
import { createCallLog, KEPT_CALLS } from './call-log.ts';
import type { CallRecord } from './call-log.ts';

const record = (at: number): CallRecord => ({ at, method: 'GET', path: '/', headers: {}, body: '', bodyBytes: 0 });

it('remembers the last 1,000 calls and counts them all', () => {
  const log = createCallLog();
  for (let at = 0; at < KEPT_CALLS + 5; at += 1) log.add(record(at));
  const kept = log.list();
  expect([kept.length, kept[0]?.at, kept.at(-1)?.at, log.total()]).toEqual([KEPT_CALLS, 5, KEPT_CALLS + 4, KEPT_CALLS + 5]);
  log.forget();
  expect([log.list(), log.total()]).toEqual([[], 0]);
});
