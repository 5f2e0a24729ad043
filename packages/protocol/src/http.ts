import { z } from 'zod';
import { agentOperations } from './agent.ts';
import { attachedOperations } from './attached.ts';
import { changeOperations } from './change-operations.ts';
import { egressOperations } from './egress.ts';
import { environmentOperations } from './environment-operations.ts';
import { event } from './event.ts';
import { backendView, capabilities, configExplained, configListed, harnessInstalled, harnessView, nodeFacts } from './node.ts';
import { nodeOperations } from './node-operations.ts';
import { sessionHistoryOperations } from './session-history-operations.ts';
import { sessionOperations } from './session-operations.ts';
import { reportedCatalogue } from './session.ts';
import { project } from './project.ts';
import { projectOperations } from './project-operations.ts';
import { auditOperations } from './audit.ts';
import { salvageOperations } from './salvage-operations.ts';
import { pageOf } from './scalars.ts';
import { done, empty, id, operation } from './operation.ts';
import { attempt, task, taskApplied, taskApply, taskCreate, taskDiff, taskListQuery } from './task.ts';
import { terminalOperations } from './terminal.ts';
import { loginOperations } from './login-operations.ts';
import { policyOperations } from './policy.ts';
import { programLoginOperations } from './program-login.ts';
import { pullRequestOperations } from './pull-request.ts';
import { pushOperations } from './push.ts';
import { tokenCreate, tokenCreated, tokenView, type Scope } from './token.ts';
import { modelUsage } from './usage.ts';

/** Every operation by name. The name is what `GET /capabilities` lists. */
export const operations = {
  ...nodeOperations,
  capabilities: operation({
    method: 'get',
    path: '/capabilities',
    scope: 'viewer',
    summary: 'Operations this node has.',
    answer: capabilities,
  }),
  snapshot: operation({
    method: 'get',
    path: '/snapshot',
    scope: 'viewer',
    summary: 'Everything live, and the seq it is true at.',
    answer: z.object({ seq: z.int(), node: nodeFacts, projects: z.array(project), tasks: z.array(task) }),
  }),
  eventList: operation({
    method: 'get',
    path: '/events/page',
    scope: 'viewer',
    summary: 'Events of the node after a seq.',
    query: z.object({
      after: z.coerce.number().int().min(0).default(0),
      limit: z.coerce.number().int().min(1).max(1000).default(200),
    }),
    answer: pageOf(event),
  }),

  ...projectOperations,
  ...agentOperations,
  ...environmentOperations,
  ...sessionOperations,
  ...sessionHistoryOperations,
  ...attachedOperations,
  ...policyOperations,

  taskList: operation({
    method: 'get',
    path: '/tasks',
    scope: 'viewer',
    summary: 'Tasks, newest first.',
    query: taskListQuery,
    answer: pageOf(task),
  }),
  taskAdd: operation({
    method: 'post',
    path: '/tasks',
    scope: 'operator',
    summary: 'Queue a task.',
    body: taskCreate,
    answer: task,
    status: 202,
  }),
  taskShow: operation({ method: 'get', path: '/tasks/:id', scope: 'viewer', summary: 'One task.', params: id, answer: task }),
  taskAttempts: operation({
    method: 'get',
    path: '/tasks/:id/attempts',
    scope: 'viewer',
    summary: 'Attempts with their stages.',
    params: id,
    answer: z.object({ items: z.array(attempt), seq: z.int() }),
  }),
  taskLog: operation({
    method: 'get',
    path: '/tasks/:id/log',
    scope: 'viewer',
    summary: 'Events of a task after a sequence.',
    params: id,
    query: z.object({
      after: z.coerce.number().int().min(0).default(0),
      limit: z.coerce.number().int().min(1).max(1000).default(200),
    }),
    answer: pageOf(event),
  }),
  taskDiff: operation({
    method: 'get',
    path: '/tasks/:id/diff',
    scope: 'viewer',
    summary: 'The change against the base.',
    params: id,
    answer: taskDiff,
  }),
  ...changeOperations,
  taskDescribe: operation({
    method: 'get',
    path: '/tasks/:id/describe',
    scope: 'operator',
    summary: 'What would really run, secrets masked.',
    params: id,
    answer: z.object({ runs: z.array(z.object({ stage: z.string(), text: z.string() })) }),
  }),
  taskCancel: operation({
    method: 'post',
    path: '/tasks/:id/cancel',
    scope: 'operator',
    summary: 'End it and every process of it.',
    params: id,
    body: empty,
    answer: task,
    status: 202,
  }),
  taskRetry: operation({
    method: 'post',
    path: '/tasks/:id/retry',
    scope: 'operator',
    summary: 'Queue another attempt of the same task.',
    params: id,
    body: empty,
    answer: task,
    status: 202,
  }),
  taskApply: operation({
    method: 'post',
    path: '/tasks/:id/apply',
    scope: 'operator',
    summary: 'Bring the result into the repository; a dirty tree is never touched.',
    params: id,
    body: taskApply,
    answer: taskApplied,
  }),

  ...pullRequestOperations,

  ...terminalOperations,
  ...egressOperations,

  queuePause: operation({
    method: 'post',
    path: '/queue/pause',
    scope: 'operator',
    summary: 'Start nothing new.',
    body: empty,
    answer: done,
  }),
  queueResume: operation({
    method: 'post',
    path: '/queue/resume',
    scope: 'operator',
    summary: 'Go on.',
    body: empty,
    answer: done,
  }),

  backendList: operation({
    method: 'get',
    path: '/backends',
    scope: 'viewer',
    summary: 'Backends and what each guarantees here.',
    answer: z.object({ items: z.array(backendView) }),
  }),
  harnessList: operation({
    method: 'get',
    path: '/harnesses',
    scope: 'viewer',
    summary: 'Agent programs.',
    answer: z.object({ items: z.array(harnessView) }),
  }),
  harnessModels: operation({
    method: 'get',
    path: '/harnesses/:id/models',
    scope: 'viewer',
    summary: 'Models and commands that an agent program reported last. It wakes nothing.',
    params: id,
    answer: reportedCatalogue,
  }),
  harnessInstall: operation({
    method: 'post',
    path: '/harnesses/:id/install',
    scope: 'owner',
    summary: 'Install the pinned program below the data directory.',
    params: id,
    body: empty,
    answer: harnessInstalled,
  }),

  ...programLoginOperations,
  ...salvageOperations,
  ...auditOperations,

  ...loginOperations,
  ...pushOperations,

  tokenList: operation({
    method: 'get',
    path: '/tokens',
    scope: 'owner',
    summary: 'API tokens.',
    answer: z.object({ items: z.array(tokenView) }),
  }),
  tokenCreate: operation({
    method: 'post',
    path: '/tokens',
    scope: 'owner',
    summary: 'Make a token; it is shown once.',
    body: tokenCreate,
    answer: tokenCreated,
    status: 201,
  }),
  tokenRemove: operation({
    method: 'delete',
    path: '/tokens/:id',
    scope: 'owner',
    summary: 'Revoke a token.',
    params: id,
    answer: done,
  }),

  usageShow: operation({
    method: 'get',
    path: '/usage',
    scope: 'viewer',
    summary: 'Tokens and cost by model.',
    query: z.object({ task: z.string().max(100).optional() }),
    answer: z.object({ items: z.array(modelUsage) }),
  }),
  configList: operation({
    method: 'get',
    path: '/config',
    scope: 'operator',
    summary: 'Every key of the configuration with its value and where that comes from.',
    query: z.object({ project: z.string().max(4096).optional() }),
    answer: configListed,
  }),
  configExplain: operation({
    method: 'get',
    path: '/config/explain',
    scope: 'operator',
    summary: 'Where a value comes from.',
    query: z.object({ key: z.string().max(200), project: z.string().max(4096).optional() }),
    answer: configExplained,
  }),
} as const;

export type OperationName = keyof typeof operations;
export type ParamsOf<Name extends OperationName> = z.input<(typeof operations)[Name]['params']>;
export type QueryOf<Name extends OperationName> = z.input<(typeof operations)[Name]['query']>;
export type BodyOf<Name extends OperationName> = (typeof operations)[Name]['body'] extends z.ZodType
  ? z.input<NonNullable<(typeof operations)[Name]['body']>>
  : undefined;
export type AnswerOf<Name extends OperationName> = z.output<(typeof operations)[Name]['answer']>;

/** Who calls an operation: the name of the token and its scope; its id where there is one. */
export type Caller = { readonly name: string; readonly scope: Scope; readonly token?: string };

/** A parsed call, as a slice's handler gets it. */
export type OperationCall<Name extends OperationName> = {
  readonly params: z.output<(typeof operations)[Name]['params']>;
  readonly query: z.output<(typeof operations)[Name]['query']>;
  readonly body: (typeof operations)[Name]['body'] extends z.ZodType
    ? z.output<NonNullable<(typeof operations)[Name]['body']>>
    : undefined;
  readonly caller: Caller;
};

/** Handlers by operation name; each slice gives some, the door registers all. */
export type OperationHandlers = { readonly [Name in OperationName]: (call: OperationCall<Name>) => Promise<AnswerOf<Name>> };
