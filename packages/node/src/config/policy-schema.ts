import { policyKind, policyVerdict } from '@orrery/protocol';
import { z } from 'zod';
import { POLICY_RULES } from '../kernel/policy-limits.ts';
import { parseYamlFile } from './yaml-file.ts';

// The schema of `policies/*.yaml`. A rule names its action, so that there can be others than approvals one day.

// oxlint-disable-next-line no-control-regex
const visible = (text: string): boolean => !/[\u0000-\u001f\u007f-\u009f]/.test(text);

const word = z.string().min(1).max(1_000).refine(visible, 'one word, without line breaks');

/** From the root of the checkout, as agents change it. */
const checkoutPath = z
  .string()
  .min(1)
  .max(1_000)
  .refine(visible, 'a path')
  .refine(
    (path) => path.split('/').every((part) => !['', '.', '..'].includes(part)),
    'a path from the root of the checkout, without . and .. and without / at an end',
  );

const command = z
  .strictObject({
    exact: z.string().min(1).max(20_000).optional().describe('The whole command, character by character'),
    words: z
      .array(word)
      .min(1)
      .max(50)
      .optional()
      .describe('Its first words; a command with ; && | > $( or anything else of a shell is never meant'),
  })
  .refine(({ exact, words }) => (exact === undefined) !== (words === undefined), 'needs exact or words, and not both');

const paths = z
  .strictObject({
    exact: z.array(checkoutPath).max(100).optional().describe('Files, from the root of the checkout'),
    below: z.array(checkoutPath).max(100).optional().describe('Folders, with everything in them'),
  })
  .refine(({ exact = [], below = [] }) => exact.length + below.length > 0, 'needs exact or below');

const match = z
  .strictObject({
    project: z.string().min(1).max(200).optional().describe('Id or name of a project; without: every project'),
    harness: z.string().min(1).max(100).optional().describe('Agent program; without: each'),
    kind: policyKind.optional().describe('command, edit (change, move or delete files) or tool (any other)'),
    tool: word.optional().describe('The tool, as the program calls it'),
    command: command.optional().describe('Commands that are meant'),
    paths: paths.optional().describe('Files that are meant: to allow, all of a change; to deny or ask, any of it'),
  })
  .refine(
    ({ kind, command: ofCommand, paths: ofPaths }) =>
      (ofCommand === undefined || (kind ?? 'command') === 'command') &&
      (ofPaths === undefined || (kind ?? 'edit') === 'edit') &&
      (ofCommand === undefined || ofPaths === undefined),
    'command goes with the kind command, paths with the kind edit',
  );

const text = z.string().min(1).max(1_000);

const rule = z
  .strictObject({
    name: z
      .string()
      .regex(/^[a-z0-9][a-z0-9._-]{0,99}$/, 'small letters, digits and . _ - only')
      .describe('Its name; what it decided is recorded as rule:<name>'),
    action: z.literal('approval').describe('What it decides: what an agent asks for permission'),
    match: match.prefault({}).describe('What is meant; every key that is given must fit'),
    verdict: policyVerdict.describe('allow, deny, or ask a person whatever the mode is'),
    reason: text.optional().describe('Why; what is denied is told to the agent with it'),
    question: text.optional().describe('With ask: what the person is asked to think of'),
  })
  .refine(({ verdict, reason }) => verdict !== 'deny' || reason !== undefined, 'deny needs a reason')
  .refine(({ verdict, question }) => verdict === 'ask' || question === undefined, 'a question goes with ask alone')
  .refine(
    ({ verdict, match: { kind, tool, command: ofCommand, paths: ofPaths } }) =>
      verdict !== 'allow' || [kind, tool, ofCommand, ofPaths].some((part) => part !== undefined),
    'allow needs a command, paths, a tool or a kind in match',
  );

/** A policy file. */
export const policySchema = z.strictObject({
  rules: z.array(rule).max(POLICY_RULES).default([]).describe('Rules; deny wins over ask, and ask over allow'),
});

/** One rule, as it is written. */
export type RuleText = z.output<typeof rule>;

/** Reads a policy file. @throws OrreryError unknown_key or config_invalid with its place */
export const parsePolicyFile = (source: string, label: string): readonly RuleText[] =>
  parseYamlFile({ text: source, schema: policySchema, label }).value.rules;
