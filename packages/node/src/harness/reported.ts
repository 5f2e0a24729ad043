// A program's own word on its turn, as every adapter stores it.

import { turnFailure } from '@orrery/protocol';
import { z } from 'zod';

/** The program's own word on its turn; null when it gave none. */
export const reported = z
  .discriminatedUnion('kind', [
    /** `doubtful`: it says so of failed model calls too, and the gateway knows better. */
    z.object({ kind: z.literal('success'), doubtful: z.boolean().optional() }),
    z.object({ kind: z.literal('stopped') }),
    z.object({ kind: z.literal('failure'), failure: turnFailure, message: z.string(), resetsAt: z.string().nullable() }),
  ])
  .nullable();
export type Reported = z.output<typeof reported>;
