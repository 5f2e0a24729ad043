// What GitHub says, as far as it is read: https://docs.github.com/en/rest/pulls (version 2022-11-28). GitHub Enterprise Server
// says the same.
import { z } from 'zod';
import { isPrivateWay } from '../../kernel/private-way.ts';

const ref = z.object({
  ref: z.string().max(1_000),
  sha: z.string().regex(/^[0-9a-f]{40}$/),
  /** Null once a fork was deleted. */
  repo: z.object({ full_name: z.string().max(300) }).nullish(),
});

/** Addresses may name more hosts by their standard than there can be. */
const hostName = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/;

/** Where people look: by https (http on this machine), without credentials, written as addresses are. */
const page = z
  .string()
  .max(2_000)
  .refine((address) => isPrivateWay(address) && hostName.test(new URL(address).hostname))
  .transform((address) => new URL(address).href)
  .refine((address) => address.length <= 2_000);

export const pullSchema = z.object({
  number: z.int().min(1),
  html_url: page,
  state: z.enum(['open', 'closed']),
  draft: z.boolean().nullish(),
  title: z.string().max(2_000),
  merged_at: z.string().nullish(),
  head: ref,
  base: ref,
});
export type GithubPull = z.output<typeof pullSchema>;

/** What only one that is asked for by its number says. GitHub finds it out afterwards: null until then. */
export const mergeabilitySchema = z.object({ mergeable: z.boolean().nullish(), mergeable_state: z.string().max(50).nullish() });
export type GithubMergeability = z.output<typeof mergeabilitySchema>;

/** Runs of checks (of apps, Actions among them) on a commit. */
export const checkRunsSchema = z.object({
  total_count: z.int().min(0),
  check_runs: z
    .array(
      z.object({
        name: z.string().max(1_000),
        status: z.string().max(50),
        conclusion: z.string().max(50).nullish(),
        html_url: page.nullish().catch(null),
      }),
    )
    .max(100),
});
/** Statuses that services set on a commit. */
export const statusesSchema = z.object({
  total_count: z.int().min(0),
  statuses: z
    .array(z.object({ context: z.string().max(1_000), state: z.string().max(50), target_url: page.nullish().catch(null) }))
    .max(100),
});
export const waysSchema = z.object({
  allow_merge_commit: z.boolean().nullish(),
  allow_squash_merge: z.boolean().nullish(),
  allow_rebase_merge: z.boolean().nullish(),
});
export const mergedSchema = z.object({ merged: z.literal(true) });

export const pullsSchema = z.array(pullSchema).max(100);
export const repositorySchema = z.object({ default_branch: z.string().min(1).max(250) });

/** What it says of a refusal. */
export const problemSchema = z.object({
  message: z.string().max(10_000).default(''),
  errors: z
    .array(
      z.union([
        z.string().max(2_000),
        z.object({
          message: z.string().max(2_000).nullish(),
          field: z.string().max(200).nullish(),
          code: z.string().max(200).nullish(),
        }),
      ]),
    )
    .max(100)
    .nullish(),
});
