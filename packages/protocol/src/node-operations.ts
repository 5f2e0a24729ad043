// Operations on the node itself.
import { z } from 'zod';
import { doctorReport, nodeFacts, nodePruned } from './node.ts';
import { done, operation } from './operation.ts';

/** Who it is, whether it is well, and how it ends. */
export const nodeOperations = {
  health: operation({
    method: 'get',
    path: '/health',
    scope: null,
    summary: 'Whether the node answers; no facts.',
    answer: done,
  }),
  nodeShow: operation({
    method: 'get',
    path: '/node',
    scope: 'viewer',
    summary: 'Who the node is and what it does.',
    answer: nodeFacts,
  }),
  nodeDoctor: operation({
    method: 'get',
    path: '/node/doctor',
    scope: 'viewer',
    summary: 'What is wrong and how to mend it.',
    answer: doctorReport,
  }),
  nodeDrain: operation({
    method: 'post',
    path: '/node/drain',
    scope: 'owner',
    summary: 'Take no new work, then stop.',
    body: z.strictObject({ stop: z.boolean().default(true), now: z.boolean().default(false) }),
    answer: done,
    status: 202,
  }),
  nodePrune: operation({
    method: 'post',
    path: '/node/prune',
    scope: 'owner',
    summary: 'Remove what this installation left in engines, clusters and hosts, and no open environment needs.',
    body: z.strictObject({ dryRun: z.boolean().default(false) }),
    answer: nodePruned,
  }),
} as const;
