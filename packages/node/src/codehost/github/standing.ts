// What GitHub says of checks and of merging, as ours. Pure.

import type { z } from 'zod';
import type { HostCheck, MergeMethod, Standing } from '../codehost.ts';
import { CODEHOST_TITLE_CHARS } from '../limits.ts';
import { oneLine } from '../words.ts';
import type { checkRunsSchema, GithubMergeability, statusesSchema, waysSchema } from './wire.ts';

type Runs = z.output<typeof checkRunsSchema>;
type Statuses = z.output<typeof statusesSchema>;

const named = (name: string): string => oneLine(name, CODEHOST_TITLE_CHARS) || 'a check';

const ofRun = ({ status, conclusion }: Runs['check_runs'][number]): HostCheck['state'] => {
  if (status !== 'completed') return 'pending';
  if (conclusion === 'success') return 'passed';
  return conclusion === 'neutral' || conclusion === 'skipped' ? 'skipped' : 'failed';
};

const ofStatus = (state: string): HostCheck['state'] =>
  state === 'success' ? 'passed' : state === 'pending' ? 'pending' : 'failed';

/** All checks of a commit. An end that is not known is no success. */
export const toChecks = (runs: Runs, statuses: Statuses): Pick<Standing, 'checks' | 'total'> => ({
  checks: [
    ...runs.check_runs.map((run) => ({ name: named(run.name), state: ofRun(run), url: run.html_url ?? null })),
    ...statuses.statuses.map(({ context, state, target_url }) => ({
      name: named(context),
      state: ofStatus(state),
      url: target_url ?? null,
    })),
  ],
  total: runs.total_count + statuses.total_count,
});

const states: Readonly<Record<string, Standing['merging']>> = {
  clean: 'clean',
  has_hooks: 'clean',
  // What is not required may fail: the host merges it all the same.
  unstable: 'clean',
  dirty: 'conflicts',
  blocked: 'blocked',
  behind: 'behind',
  draft: 'draft',
};

/** Whether it could be merged. */
export const toMerging = ({ mergeable, mergeable_state }: GithubMergeability): Standing['merging'] =>
  mergeable === false ? 'conflicts' : (states[mergeable_state ?? ''] ?? 'unknown');

/** Ways that a repository allows; one that does not say so allows what GitHub does by itself. */
export const toMethods = (ways: z.output<typeof waysSchema>): readonly MergeMethod[] => {
  const all = [
    ['merge', ways.allow_merge_commit],
    ['squash', ways.allow_squash_merge],
    ['rebase', ways.allow_rebase_merge],
  ] as const;
  return all.filter(([, allowed]) => allowed !== false).map(([method]) => method);
};
