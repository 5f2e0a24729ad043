import type { Caller, OperationCall, OperationHandlers } from '@orrery/protocol';
import type { Subject } from './model.ts';
import type { Asked } from './open.ts';
import type { PullRequests } from './service.ts';

type PullRequestOperations =
  | 'taskPullRequest'
  | 'taskPullRequestOpen'
  | 'taskPullRequestMerge'
  | 'environmentPullRequest'
  | 'environmentPullRequestOpen'
  | 'environmentPullRequestMerge';

const askedOf = (body: OperationCall<'taskPullRequestOpen'>['body'], caller: Caller): Asked => ({
  title: body.title?.trim() ?? null,
  body: body.body ?? null,
  draft: body.draft,
  base: body.base ?? null,
  branch: body.branch ?? null,
  without: body.without,
  requestId: body.requestId ?? null,
  actor: `token:${caller.name}`,
});

const mergeOf = ({ headSha, method }: OperationCall<'taskPullRequestMerge'>['body'], caller: Caller) => ({
  ...{ headSha, method: method ?? null, actor: `token:${caller.name}` },
});

/** Handlers of the operations on pull requests. The subjects come from the slices that have them. */
export const pullRequestHandlers = (
  pulls: PullRequests,
  subjects: {
    readonly task: (reference: string) => Promise<Subject>;
    readonly environment: (reference: string) => Promise<Subject>;
  },
): Pick<OperationHandlers, PullRequestOperations> => ({
  taskPullRequest: async ({ params, query }) => pulls.look(await subjects.task(params.id), query),
  taskPullRequestOpen: async ({ params, body, caller }) => pulls.open(await subjects.task(params.id), askedOf(body, caller)),
  taskPullRequestMerge: async ({ params, body, caller }) => pulls.merge(await subjects.task(params.id), mergeOf(body, caller)),
  environmentPullRequestMerge: async ({ params, body, caller }) =>
    pulls.merge(await subjects.environment(params.id), mergeOf(body, caller)),
  environmentPullRequest: async ({ params, query }) => pulls.look(await subjects.environment(params.id), query),
  environmentPullRequestOpen: async ({ params, body, caller }) =>
    pulls.open(await subjects.environment(params.id), askedOf(body, caller)),
});
