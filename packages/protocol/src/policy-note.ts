import { z } from 'zod';

/** What a rule says: it happens, it does not, or a person is asked whatever the mode is. */
export const policyVerdict = z.enum(['allow', 'deny', 'ask']);
export type PolicyVerdict = z.output<typeof policyVerdict>;

/** What the rules said of something that was asked. */
export const policyNote = z.object({
  verdict: policyVerdict,
  /** The rule that decided; null: a policy file is broken, and everything is asked. */
  rule: z.string().nullable(),
  /** The file that it stands in. */
  file: z.string().nullable(),
  text: z.string(),
});
export type PolicyNote = z.output<typeof policyNote>;
