import { z } from 'zod';
import { operation } from './operation.ts';
import { instant, pageOf, pageQuery } from './scalars.ts';

/** Who did what to what, and how it ended. Names, ids and counts: no contents, no secrets. */
export const auditRecord = z.object({
  id: z.int(),
  at: instant,
  /** `token:<name>`, `node`, or an id. */
  actor: z.string(),
  /** A fixed word: `token.create`, `egress.allow`. */
  action: z.string(),
  /** What it was done to: an id or a name. */
  subject: z.string(),
  outcome: z.enum(['done', 'refused', 'failed']),
  detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
});
export type AuditView = z.output<typeof auditRecord>;

/** Operations on the audit: it is read, never written. */
export const auditOperations = {
  auditList: operation({
    method: 'get',
    path: '/audit',
    scope: 'owner',
    summary: 'Who did what, newest first.',
    query: pageQuery.extend({
      /** An action, or all that begin with a word: `egress`. */
      action: z.string().min(1).max(100).optional(),
      actor: z.string().min(1).max(300).optional(),
      outcome: auditRecord.shape.outcome.optional(),
    }),
    answer: pageOf(auditRecord),
  }),
} as const;
