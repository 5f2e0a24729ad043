import { z } from 'zod';
import { interactionView } from './interaction.ts';
import { id, operation } from './operation.ts';
import { policyVerdict } from './policy-note.ts';

// Rules that decide what agents ask for permission: whose they are, what they say, and what one would have to say.

/** What a rule may decide: to run a command, to change files, to use another tool. */
export const policyKind = z.enum(['command', 'edit', 'tool']);
export type PolicyKind = z.output<typeof policyKind>;

/** What a rule is for; what it leaves out, it does not look at. */
export const policyMatch = z.object({
  project: z.string().optional(),
  harness: z.string().optional(),
  kind: policyKind.optional(),
  tool: z.string().optional(),
  command: z.object({ exact: z.string().optional(), words: z.array(z.string()).optional() }).optional(),
  paths: z.object({ exact: z.array(z.string()).optional(), below: z.array(z.string()).optional() }).optional(),
});

/** Whose file a rule stands in: the operator's, or one of a project's base commit, which only narrows. */
export const policyOrigin = z.enum(['operator', 'project']);

/** A rule as it stands in a file. */
export const policyRuleView = z.object({
  name: z.string(),
  origin: policyOrigin,
  file: z.string(),
  action: z.literal('approval'),
  match: policyMatch,
  verdict: policyVerdict,
  /** Why, in words; of `ask`: the question. */
  text: z.string().nullable(),
});
export type PolicyRuleView = z.output<typeof policyRuleView>;

/** A policy file. */
export const policyFileView = z.object({
  origin: policyOrigin,
  path: z.string(),
  rules: z.int(),
  /** What is wrong with it, in three lines; null: nothing. */
  problem: z.array(z.string()).nullable(),
});
export type PolicyFileView = z.output<typeof policyFileView>;

export const policyListed = z.object({
  items: z.array(policyRuleView),
  files: z.array(policyFileView),
  /** The operator's folder. */
  folder: z.string(),
  /** A file that counts cannot be used: nothing is allowed by a rule or by a mode, everything is asked. */
  broken: z.boolean(),
  /** Rules that mean nothing as it is: they name a project or a program that there is none of. */
  idle: z.array(z.string()),
});
export type PolicyListed = z.output<typeof policyListed>;

/** Something that an agent might ask. */
export const policyQuestion = z.strictObject({
  /** What an agent really asked; instead of all others. */
  interaction: z.string().max(200).optional(),
  project: z.string().max(4096).optional(),
  harness: z.string().max(100).optional(),
  command: z.string().min(1).max(100_000).optional(),
  /** Files that would be changed, from the root of the checkout. */
  paths: z.array(z.string().min(1).max(4096)).max(100).optional(),
  tool: z.string().min(1).max(1_000).optional(),
});
export type PolicyQuestion = z.output<typeof policyQuestion>;

export const policyTested = z.object({
  /** Null: no rule speaks of it, and the session's mode decides. */
  verdict: policyVerdict.nullable(),
  /** The rule that decides; null: none, or a file is broken. */
  rule: z.object({ name: z.string(), file: z.string() }).nullable(),
  /** Why, in words. */
  text: z.string(),
  /** Every rule that fits, also those that another one overrules. */
  fits: z.array(policyRuleView),
  files: z.array(policyFileView),
});
export type PolicyTested = z.output<typeof policyTested>;

/** The rule that would allow just what is asked. */
export const policyProposal = z.object({
  /** Null: there is none. */
  rule: z.object({ name: z.string(), yaml: z.string(), file: z.string() }).nullable(),
  /** Why there is none; null: there is one. */
  why: z.string().nullable(),
});
export type PolicyProposal = z.output<typeof policyProposal>;

/** Operations on rules. */
export const policyOperations = {
  policyList: operation({
    method: 'get',
    path: '/policies',
    scope: 'viewer',
    summary: 'Rules of the operator, and of a project at its newest commit; files that cannot be used, with the reason.',
    query: z.object({ project: z.string().max(4096).optional() }),
    answer: policyListed,
  }),
  policyTest: operation({
    method: 'post',
    path: '/policies/test',
    scope: 'viewer',
    summary: 'What the rules would say of something that an agent asks, and which of them says it. It changes nothing.',
    body: policyQuestion,
    answer: policyTested,
  }),
  policyPropose: operation({
    method: 'get',
    path: '/interactions/:id/rule',
    scope: 'viewer',
    summary: 'The rule that would allow just what is asked, as text, and the file that it would go to.',
    params: id,
    answer: policyProposal,
  }),
  policyAdd: operation({
    method: 'post',
    path: '/interactions/:id/rule',
    scope: 'owner',
    summary: 'Add that rule to the operator’s policy file, and allow once what is asked.',
    params: id,
    body: z.strictObject({
      revision: z.int().min(1),
      /** The rule as the person saw it. */
      yaml: z.string().min(1).max(300_000),
    }),
    answer: z.object({ interaction: interactionView, rule: z.object({ name: z.string(), file: z.string() }) }),
  }),
} as const;
