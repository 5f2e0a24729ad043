export { createPullRequests, pullRequestsOf } from './service.ts';
export { pullRequestHandlers } from './routes.ts';
export { bodyOfEnvironment, bodyOfTask, titleOf } from './texts.ts';
export type { Subject } from './model.ts';
