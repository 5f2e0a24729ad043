// How open pull requests stand at their hosts: asked for when somebody looks, and kept in memory for some seconds.

import type { PullRequestStanding } from '@orrery/protocol';
import type { Pull, Standing } from '../codehost/codehost.ts';

/** Pull requests of which it is kept how they stood. */
const KEPT = 200;
/** Checks that are shown of one. */
const SHOWN = 100;

export type Standings = {
  get(id: string): PullRequestStanding | null;
  set(id: string, standing: PullRequestStanding | null): void;
};

/** What was seen last, of the newest some hundred. */
export const createStandings = (): Standings => {
  const seen = new Map<string, PullRequestStanding>();
  return {
    get: (id) => seen.get(id) ?? null,
    set: (id, standing) => {
      seen.delete(id);
      if (standing === null) return;
      seen.set(id, standing);
      const [oldest] = seen.keys();
      if (seen.size > KEPT && oldest !== undefined) seen.delete(oldest);
    },
  };
};

const order = { failed: 0, pending: 1, passed: 2, skipped: 3 } as const;

/** As clients see it: what failed stands first, and one that is not known to be over keeps all from being passed. */
export const toStanding = (
  { headSha }: Pick<Pull, 'headSha'>,
  { checks, total, merging, methods }: Standing,
): PullRequestStanding => {
  const sorted = (checks ?? []).toSorted((one, other) => order[one.state] - order[other.state]);
  const has = (state: keyof typeof order): boolean => sorted.some((check) => check.state === state);
  const some =
    checks === null ? 'unknown' : has('failed') ? 'failed' : has('pending') || total > sorted.length ? 'pending' : null;
  return {
    ...{ headSha, merging, total, methods: [...methods] },
    state: some ?? (sorted.length === 0 ? 'none' : 'passed'),
    checks: sorted.slice(0, SHOWN).map((check) => ({ ...check })),
  };
};
