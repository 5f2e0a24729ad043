import {
  toOrreryError,
  type PullRequest,
  type PullRequestMerged,
  type PullRequestOpened,
  type PullRequestOutlook,
} from '@orrery/protocol';
import type { HostedRepository } from '../codehost/hosts.ts';
import { PULL_FRESH_MS } from '../codehost/limits.ts';
import { createMutex } from '../kernel/mutex.ts';
import { mergePullRequest, type MergeAsked } from './merge.ts';
import { toPullRequest, type PullRequestRow, type Subject } from './model.ts';
import { notePull, openPullRequest, type Asked, type OpenParts } from './open.ts';
import { createStandings, toStanding, type Standings } from './standing.ts';
import { newestPullRequests } from './store.ts';

/** Use cases of pull requests. */
export type PullRequests = {
  /** What there is and what could be opened. `refresh`: its host is asked, unless it was some seconds ago. It wakes nothing. */
  look(subject: Subject, how: { readonly refresh: boolean }): Promise<PullRequestOutlook>;
  /**
   * Pushes the work of a subject and opens a pull request for it, or brings the one that is there up to it. Each step is
   * recorded before it is taken: asked for again after whatever cut it off, it goes on and opens no second one. Rejects with
   * `unsupported` (no code host), `config_invalid` (no token), `conflict`, `codehost_refused`, `codehost_unreachable`.
   */
  open(subject: Subject, asked: Asked): Promise<PullRequestOpened>;
  /** Has its host merge the commit that was seen, once. Rejects with `conflict` (another commit, none there, it is over), `codehost_refused`, `codehost_unreachable`. */
  merge(subject: Subject, asked: MergeAsked): Promise<PullRequestMerged>;
};

export const createPullRequests = (parts: OpenParts): PullRequests => {
  const mutex = createMutex();
  const standings = createStandings();
  const newest = async ({ kind, id }: Subject): Promise<PullRequestRow | null> =>
    (await newestPullRequests(parts.store.read, kind, [id])).get(id) ?? null;
  return {
    open: (subject, asked) => mutex.run(`${subject.kind}:${subject.id}`, () => openPullRequest(parts, subject, asked)),
    merge: (subject, asked) =>
      mutex.run(`${subject.kind}:${subject.id}`, async () =>
        mergePullRequest(parts, subject, { row: await newest(subject), asked }),
      ),
    look: async (subject, { refresh }) => {
      const problem = refresh ? await refreshOne(parts, { subject, row: await newest(subject), standings }) : null;
      const row = await newest(subject);
      const place = await placeOf(parts, subject);
      const { title, body, branch, bases } = subject;
      return {
        pullRequest: row === null ? null : toPullRequest(row),
        host: 'host' in place ? { name: place.host.name, repository: place.repository } : null,
        problem: 'problem' in place ? place.problem : problem,
        standing: row?.state === 'open' ? standings.get(row.id) : null,
        suggested: { title, body, branch, base: bases[0] ?? null },
      };
    },
  };
};

/** The newest ones of some tasks or environments, as clients see them. */
export const pullRequestsOf = async (
  store: OpenParts['store'],
  kind: Subject['kind'],
  ids: readonly string[],
): Promise<ReadonlyMap<string, PullRequest>> => {
  const rows = await newestPullRequests(store.read, kind, ids);
  return new Map([...rows].map(([id, row]) => [id, toPullRequest(row)]));
};

type Problem = NonNullable<PullRequestOutlook['problem']>;

const problemOf = (thrown: unknown): Problem => {
  const { message, rule, fix } = toOrreryError(thrown);
  return { message, rule, fix };
};

const placeOf = async (parts: OpenParts, subject: Subject): Promise<HostedRepository | { readonly problem: Problem }> => {
  try {
    const place = parts.hosts.ofRemotes(await subject.remotes(), subject.project.name);
    await place.host.checkToken();
    return place;
  } catch (thrown) {
    return { problem: problemOf(thrown) };
  }
};

/** Asks its host; what it fails of is told, and what was known stays. */
const refreshOne = async (
  parts: OpenParts,
  { subject, row, standings }: { readonly subject: Subject; readonly row: PullRequestRow | null; readonly standings: Standings },
): Promise<Problem | null> => {
  if (row === null || row.number === null) return null;
  const isFresh = row.checked_at !== null && parts.clock.nowMs() - row.checked_at < PULL_FRESH_MS;
  if (isFresh && (row.state !== 'open' || standings.get(row.id) !== null)) return null;
  try {
    const host = parts.hosts.named(row.host);
    const pull = await host.view(row.repository, row.number);
    await notePull(parts, { subject, row, pull });
    standings.set(row.id, pull.state === 'open' ? toStanding(pull, await host.standing(row.repository, pull)) : null);
    return null;
  } catch (thrown) {
    return problemOf(thrown);
  }
};
