// A program's own word on its turn, as every adapter stores it.

import type { ConversationBody } from '@orrery/protocol';
import { z } from 'zod';

type Failure = NonNullable<Extract<ConversationBody, { kind: 'turn.ended' }>['failure']>;

const turnFailures = [
  'auth',
  'overloaded',
  'rate_limit',
  'usage_limit',
  'context',
  'billing',
  'network',
  'timeout',
  'program',
  'protocol',
] as const satisfies readonly Failure[];

/** The program's own word on its turn; null when it gave none. */
export const reported = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('success') }),
    z.object({ kind: z.literal('stopped') }),
    z.object({ kind: z.literal('failure'), failure: z.enum(turnFailures), message: z.string(), resetsAt: z.string().nullable() }),
  ])
  .nullable();
export type Reported = z.output<typeof reported>;
