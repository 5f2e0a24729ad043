import { z } from 'zod';
import { id, operation } from './operation.ts';
import { instant } from './scalars.ts';

/** One rule of the egress proxy: `host`, `*.host` or an address, with `:port` or without (then 80 and 443). */
const egressRule = z.object({
  rule: z.string(),
  decision: z.enum(['allow', 'deny']),
  /** Who gave it: the task with its project, the operator while it runs, or the configuration of the node. */
  from: z.enum(['task', 'operator', 'node']),
  /** A denial takes away all that it allows. */
  beaten: z.boolean(),
});

/** What was asked of one host since the node started. */
const egressHost = z.object({
  host: z.string(),
  port: z.int(),
  passed: z.int(),
  refused: z.int(),
  reason: z.string().nullable(),
  sentBytes: z.int(),
  receivedBytes: z.int(),
  lastAt: instant,
});

/** What one open environment may reach, and what it asked for. */
const egressView = z.object({
  environmentId: z.string(),
  taskId: z.string(),
  rules: z.array(egressRule),
  connections: z.int(),
  hosts: z.array(egressHost),
});
export type EgressView = z.output<typeof egressView>;

/** A rule to add, or to turn around. */
const egressChange = z.strictObject({ rule: z.string().min(1).max(300) });

/** `ended`: connections that the change denied. */
const egressChanged = egressView.extend({ ended: z.int() });

/** Operations on the egress of open environments. */
export const egressOperations = {
  egressShow: operation({
    method: 'get',
    path: '/egress/:id',
    scope: 'viewer',
    summary: 'What an open environment (its id, or its task) may reach, and what it asked for.',
    params: id,
    answer: egressView,
  }),
  egressAllow: operation({
    method: 'post',
    path: '/egress/:id/allow',
    scope: 'owner',
    summary: 'Let an open environment reach a host, from now to its end.',
    params: id,
    body: egressChange,
    answer: egressChanged,
  }),
  egressDeny: operation({
    method: 'post',
    path: '/egress/:id/deny',
    scope: 'operator',
    summary: 'Deny a host to an open environment and end its connections there.',
    params: id,
    body: egressChange,
    answer: egressChanged,
  }),
} as const;
