import { describe, expect, it } from 'vitest';
import { toChecks, toMerging, toMethods } from './standing.ts';
import { checkRunsSchema, statusesSchema } from './wire.ts';

const run = (name: string, status: string, conclusion: string | null) => ({
  ...{ name, status, conclusion, html_url: 'https://git.test/c' },
});

describe('what GitHub says of checks and merging', () => {
  it('is passed, failed, skipped or goes on; an end that nobody knows is no success', () => {
    const runs = checkRunsSchema.parse({
      total_count: 7,
      check_runs: [
        run('a', 'completed', 'success'),
        run('b', 'completed', 'timed_out'),
        run('c', 'completed', 'neutral'),
        run('d', 'queued', null),
        run('e', 'completed', 'something-new'),
        { ...run('f\u202e\n', 'completed', 'success'), html_url: 'javascript:alert(1)' },
      ],
    });
    const statuses = statusesSchema.parse({
      total_count: 2,
      statuses: [
        { context: 's', state: 'success', target_url: null },
        { context: 't', state: 'error', target_url: 'http://elsewhere.test/' },
      ],
    });
    const { checks, total } = toChecks(runs, statuses);
    expect(checks?.map(({ name, state, url }) => [name, state, url])).toEqual([
      ['a', 'passed', 'https://git.test/c'],
      ['b', 'failed', 'https://git.test/c'],
      ['c', 'skipped', 'https://git.test/c'],
      ['d', 'pending', 'https://git.test/c'],
      ['e', 'failed', 'https://git.test/c'],
      ['f', 'passed', null],
      ['s', 'passed', null],
      ['t', 'failed', null],
    ]);
    expect(total).toBe(9);
  });

  it.each([
    [{ mergeable: true, mergeable_state: 'clean' }, 'clean'],
    [{ mergeable: true, mergeable_state: 'unstable' }, 'clean'],
    [{ mergeable: false, mergeable_state: 'clean' }, 'conflicts'],
    [{ mergeable: null, mergeable_state: 'unknown' }, 'unknown'],
    [{ mergeable: true, mergeable_state: 'blocked' }, 'blocked'],
    [{}, 'unknown'],
  ] as const)('%j stands as %s', (said, stands) => {
    expect(toMerging(said)).toBe(stands);
  });

  it('allows the ways that the repository does not forbid', () => {
    expect(toMethods({ allow_merge_commit: false, allow_squash_merge: true })).toEqual(['squash', 'rebase']);
    expect(toMethods({})).toEqual(['merge', 'squash', 'rebase']);
  });
});
