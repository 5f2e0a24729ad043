import type { SessionView, Task } from '@orrery/protocol';
import { expect, it } from 'vitest';
import { waitingSessions, waitingTasks } from './waits.ts';

const NOW = Date.parse('2026-03-10T12:00:00Z');
const result = { headSha: 'a', filesChanged: 1, summary: null };
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what of a task is looked at
const task = (id: string, more: object): Task =>
  ({
    ...{ id, prompt: `${id}\nmore`, state: 'accepted', verdict: 'accepted', reason: null, waitingFor: null, continues: null },
    ...{ origin: { kind: 'cli', by: '' }, result, pullRequest: null, appliedAt: null, project: { id: 'p' } },
    ...{ createdAt: '2026-03-10T11:00:00Z', endedAt: '2026-03-10T11:30:00Z' },
    ...more,
  }) as unknown as Task;

const kept = (tasks: readonly Task[]) => waitingTasks(tasks, NOW).map(({ id, state, review }) => [id, state, review]);

it('names what failed its check, what nobody applied yet, and pull requests that are open', () => {
  expect(
    kept([
      task('rejected', { verdict: 'rejected', reason: 'validation.sh still fails' }),
      task('reviewable', {}),
      task('pulled', { pullRequest: { number: 7, state: 'open' } }),
      task('held', { state: 'waiting', verdict: null, waitingFor: 'a limit', endedAt: null }),
    ]),
  ).toEqual([
    ['rejected', 'rejected', true],
    ['reviewable', 'to review', true],
    ['pulled', 'open', true],
    ['held', 'waiting', false],
  ]);
});

it('passes over what was applied, merged, cancelled, done again, went on, or is older than a week', () => {
  expect(
    kept([
      task('applied', { appliedAt: '2026-03-10T11:40:00Z' }),
      task('merged', { pullRequest: { number: 7, state: 'merged' } }),
      task('cancelled', { verdict: 'cancelled' }),
      task('unchanged', { result: { ...result, filesChanged: 0 } }),
      task('old', { verdict: 'failed', endedAt: '2026-03-01T00:00:00Z' }),
      task('again', { verdict: 'failed' }),
      task('second', { origin: { kind: 'retry', by: 'again' }, continues: 'before', appliedAt: 'x' }),
      task('before', {}),
      task('running', { state: 'running', verdict: null, endedAt: null }),
    ]),
  ).toEqual([]);
});

it('names sessions whose inputs have an unknown fate before anything else that is wrong with them', () => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what of a session is looked at
  const session = (more: object): SessionView =>
    ({
      ...{ id: 's', name: 'n', state: 'idle', reason: null, limit: null, uncertain: 0, changedAt: '' },
      ...more,
    }) as SessionView;
  const states = [
    session({}),
    session({ uncertain: 1, state: 'failed' }),
    session({ state: 'failed', reason: 'it broke' }),
    session({ limit: { account: 'claude', until: '2026-03-10T12:00:00Z', told: true } }),
    session({ state: 'ended', uncertain: 1 }),
  ];
  expect(waitingSessions(states).map(({ state }) => state)).toEqual(['uncertain', 'failed', 'limit']);
});
