import { z } from 'zod';
import { leftOut } from './change.ts';
import { id, operation } from './operation.ts';
import { instant, requestId } from './scalars.ts';

/** `pushing` and `creating`: it was begun and its end is not known; asked for again it goes on, and opens nothing twice. */
export const pullRequestState = z.enum(['pushing', 'creating', 'open', 'merged', 'closed']);
export type PullRequestState = z.output<typeof pullRequestState>;

/** A pull request that the node opened. */
export const pullRequest = z.object({
  id: z.string(),
  /** Name of the code host in the configuration, and the repository there. */
  host: z.string(),
  repository: z.string(),
  state: pullRequestState,
  /** Null until the host answered. */
  number: z.int().nullable(),
  url: z.string().nullable(),
  title: z.string(),
  draft: z.boolean(),
  branch: z.string(),
  base: z.string().nullable(),
  /** The commit that the node pushed last. */
  headSha: z.string().nullable(),
  createdAt: instant,
  changedAt: instant,
  /** When its host was asked last. */
  checkedAt: instant.nullable(),
});
export type PullRequest = z.output<typeof pullRequest>;

const title = z
  .string()
  .max(250)
  .refine((text) => text.trim() !== '' && !/[\x00-\x1f\x7f]/.test(text), 'one line that is not blank');

/** How one is opened. What is left out is taken from the work itself. */
export const pullRequestOpen = z.strictObject({
  title: title.optional(),
  /** Markdown. */
  body: z.string().max(60_000).optional(),
  draft: z.boolean().default(false),
  /** The branch it is to be taken into; default: the one that the work began at, else the host's default branch. */
  base: z.string().min(1).max(200).optional(),
  /** The branch that is pushed; default: that of the work. */
  branch: z.string().min(1).max(200).optional(),
  /** Files and hunks of a task's result that stay behind: one commit with the rest is pushed. */
  without: leftOut.default([]),
  requestId: requestId.optional(),
});
export type PullRequestOpen = z.input<typeof pullRequestOpen>;

export const pullRequestOpened = z.object({
  pullRequest,
  /** `opened`: it is new; `updated`: it was there and has other commits now; `unchanged`: it was there and has them already. */
  outcome: z.enum(['opened', 'updated', 'unchanged']),
  note: z.string(),
  /** True when the same request was answered before. */
  replayed: z.boolean(),
});
export type PullRequestOpened = z.output<typeof pullRequestOpened>;

/** One check that the code host, or a service beside it, ran on the commit. */
export const pullRequestCheck = z.object({
  name: z.string(),
  state: z.enum(['pending', 'passed', 'failed', 'skipped']),
  url: z.string().nullable(),
});

export const mergeMethod = z.enum(['merge', 'squash', 'rebase']);
export type MergeMethod = z.output<typeof mergeMethod>;

/** How an open one stands at its host now. */
export const pullRequestStanding = z.object({
  /** The commit that this is about, and that would be merged. */
  headSha: z.string(),
  /** All checks as one; `none`: the host has none; `unknown`: the token may not read them. */
  state: z.enum(['none', 'pending', 'passed', 'failed', 'unknown']),
  /** What failed first, at most 100; `total` counts all. */
  checks: z.array(pullRequestCheck),
  total: z.int(),
  /** `conflicts`: with its base; `blocked`: a rule of the host; `behind`: its base went on, and a rule wants that; `unknown`: the host has not found out yet. */
  merging: z.enum(['clean', 'conflicts', 'blocked', 'behind', 'draft', 'unknown']),
  /** Ways of merging that the repository allows, its own first. */
  methods: z.array(mergeMethod),
});
export type PullRequestStanding = z.output<typeof pullRequestStanding>;

/** How one is merged. */
export const pullRequestMerge = z.strictObject({
  /** The commit that was seen; another one is not merged. */
  headSha: z.string().regex(/^[0-9a-f]{40}$/),
  /** Default: the first that the repository allows. */
  method: mergeMethod.optional(),
});

export const pullRequestMerged = z.object({
  pullRequest,
  /** `was-merged`: it was already, with this commit. */
  outcome: z.enum(['merged', 'was-merged']),
});
export type PullRequestMerged = z.output<typeof pullRequestMerged>;

/** What there is, what could be opened, and why not. */
export const pullRequestOutlook = z.object({
  pullRequest: pullRequest.nullable(),
  /** Where one would be opened; null: `problem` says why nowhere. */
  host: z.object({ name: z.string(), repository: z.string() }).nullable(),
  problem: z.object({ message: z.string(), rule: z.string().nullable(), fix: z.string().nullable() }).nullable(),
  /** Of one that is open, when its host was asked; else null. */
  standing: pullRequestStanding.nullable(),
  suggested: z.object({ title: z.string(), body: z.string(), branch: z.string(), base: z.string().nullable() }),
});
export type PullRequestOutlook = z.output<typeof pullRequestOutlook>;

/** `refresh`: the host is asked for its state first, when that was longer ago than some seconds. */
const query = z.object({ refresh: z.stringbool().default(false) });

/** Operations on pull requests. */
export const pullRequestOperations = {
  taskPullRequest: operation({
    method: 'get',
    path: '/tasks/:id/pr',
    scope: 'viewer',
    summary: 'The pull request of a task, what one would say, and what is missing for it.',
    params: id,
    query,
    answer: pullRequestOutlook,
  }),
  taskPullRequestOpen: operation({
    method: 'post',
    path: '/tasks/:id/pr',
    scope: 'operator',
    summary: 'Push the result and open a pull request, or bring the one that is there up to it.',
    params: id,
    body: pullRequestOpen,
    answer: pullRequestOpened,
  }),
  taskPullRequestMerge: operation({
    method: 'post',
    path: '/tasks/:id/pr/merge',
    scope: 'operator',
    summary: 'Have the code host merge the pull request of a task, at the commit that was seen.',
    params: id,
    body: pullRequestMerge,
    answer: pullRequestMerged,
  }),
  environmentPullRequestMerge: operation({
    method: 'post',
    path: '/environments/:id/pr/merge',
    scope: 'operator',
    summary: 'Have the code host merge the pull request of an environment, at the commit that was seen.',
    params: id,
    body: pullRequestMerge,
    answer: pullRequestMerged,
  }),
  environmentPullRequest: operation({
    method: 'get',
    path: '/environments/:id/pr',
    scope: 'viewer',
    summary: 'The pull request of an environment, what one would say, and what is missing for it.',
    params: id,
    query,
    answer: pullRequestOutlook,
  }),
  environmentPullRequestOpen: operation({
    method: 'post',
    path: '/environments/:id/pr',
    scope: 'operator',
    summary: 'Push what an environment holds and open a pull request, or bring the one that is there up to it.',
    params: id,
    body: pullRequestOpen,
    answer: pullRequestOpened,
  }),
} as const;
