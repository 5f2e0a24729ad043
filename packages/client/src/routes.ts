import type { OperationName } from '@orrery/protocol';

/** How one operation is sent: what the client needs of the operation table without its schemas. */
export type Route = { readonly method: 'get' | 'post' | 'patch' | 'delete'; readonly path: string };

const get = (path: string): Route => ({ method: 'get', path });
const post = (path: string): Route => ({ method: 'post', path });
const patch = (path: string): Route => ({ method: 'patch', path });
const remove = (path: string): Route => ({ method: 'delete', path });

/** Method and path of every operation, below `/api/v1`. A test keeps it equal to `operations` of the protocol. */
export const routes: Readonly<Record<OperationName, Route>> = {
  health: get('/health'),
  nodeShow: get('/node'),
  nodeDoctor: get('/node/doctor'),
  nodeDrain: post('/node/drain'),
  nodePrune: post('/node/prune'),
  capabilities: get('/capabilities'),
  snapshot: get('/snapshot'),
  eventList: get('/events/page'),
  projectList: get('/projects'),
  projectAdd: post('/projects'),
  projectShow: get('/projects/:id'),
  projectSet: patch('/projects/:id'),
  projectRemove: remove('/projects/:id'),
  agentList: get('/agents'),
  agentShow: get('/agents/:id'),
  environmentList: get('/environments'),
  environmentCreate: post('/environments'),
  environmentShow: get('/environments/:id'),
  environmentSet: patch('/environments/:id'),
  environmentDelete: remove('/environments/:id'),
  environmentStart: post('/environments/:id/start'),
  environmentStop: post('/environments/:id/stop'),
  environmentRecreate: post('/environments/:id/recreate'),
  environmentFork: post('/environments/:id/fork'),
  environmentSetup: post('/environments/:id/setup'),
  environmentSetupLog: get('/environments/:id/setup/log'),
  environmentPrune: post('/environments/prune'),
  sessionList: get('/sessions'),
  sessionCreate: post('/sessions'),
  sessionCommands: get('/sessions/:id/commands'),
  attachmentList: get('/sessions/:id/attachments'),
  attachmentAdd: post('/sessions/:id/attachments'),
  attachmentRead: get('/sessions/:id/attachments/:attachment'),
  harnessModels: get('/harnesses/:id/models'),
  sessionActivity: get('/sessions/activity'),
  sessionSearch: get('/sessions/search'),
  sessionShow: get('/sessions/:id'),
  sessionSet: patch('/sessions/:id'),
  sessionLog: get('/sessions/:id/log'),
  sessionRows: get('/sessions/:id/rows'),
  sessionDetail: get('/sessions/:id/details/:locator'),
  sessionInterrupt: post('/sessions/:id/interrupt'),
  sessionClose: post('/sessions/:id/close'),
  sessionEnd: post('/sessions/:id/end'),
  sessionResume: post('/sessions/:id/resume'),
  sessionCheckpoints: get('/sessions/:id/checkpoints'),
  sessionCheckpoint: post('/sessions/:id/checkpoints'),
  sessionChanges: get('/sessions/:id/changes'),
  sessionChange: get('/sessions/:id/changes/file'),
  sessionTakeBack: post('/sessions/:id/changes/take-back'),
  sessionRewind: post('/sessions/:id/rewind'),
  sessionFork: post('/sessions/:id/fork'),
  sessionHandOver: post('/sessions/:id/hand-over'),
  sessionDelete: remove('/sessions/:id'),
  attachedList: get('/attached-sessions'),
  attachedShow: get('/attached-sessions/:id'),
  attachedBegin: post('/attached-sessions'),
  attachedBeat: post('/attached-sessions/:id/beat'),
  attachedEnd: post('/attached-sessions/:id/end'),
  turnList: get('/sessions/:id/turns'),
  turnAdd: post('/sessions/:id/turns'),
  turnSet: patch('/sessions/:id/turns/:turn'),
  turnSendNow: post('/sessions/:id/turns/:turn/send-now'),
  turnRemove: remove('/sessions/:id/turns/:turn'),
  turnDecide: post('/sessions/:id/turns/:turn/decide'),
  interactionList: get('/interactions'),
  interactionShow: get('/interactions/:id'),
  interactionAnswer: post('/interactions/:id/answer'),
  taskList: get('/tasks'),
  taskAdd: post('/tasks'),
  taskShow: get('/tasks/:id'),
  taskAttempts: get('/tasks/:id/attempts'),
  taskLog: get('/tasks/:id/log'),
  taskDiff: get('/tasks/:id/diff'),
  taskChanges: get('/tasks/:id/changes'),
  taskChange: get('/tasks/:id/changes/file'),
  taskDescribe: get('/tasks/:id/describe'),
  taskCancel: post('/tasks/:id/cancel'),
  taskRetry: post('/tasks/:id/retry'),
  taskApply: post('/tasks/:id/apply'),
  terminalList: get('/environments/:id/terminals'),
  terminalOpen: post('/environments/:id/terminals'),
  terminalEnd: post('/environments/:id/terminals/:terminal/end'),
  environmentStats: get('/environments/:id/stats'),
  previewOpen: post('/environments/:id/ports/:port/preview'),
  egressShow: get('/egress/:id'),
  egressAllow: post('/egress/:id/allow'),
  egressDeny: post('/egress/:id/deny'),
  queuePause: post('/queue/pause'),
  queueResume: post('/queue/resume'),
  backendList: get('/backends'),
  harnessList: get('/harnesses'),
  harnessInstall: post('/harnesses/:id/install'),
  salvageList: get('/salvage'),
  salvageShow: get('/salvage/:id'),
  salvageRestore: post('/salvage/:id/restore'),
  salvageDelete: remove('/salvage/:id'),
  salvagePrune: post('/salvage/prune'),
  loginLink: post('/login-links'),
  loginEnter: post('/login'),
  loginLeave: post('/logout'),
  callerShow: get('/caller'),
  tokenList: get('/tokens'),
  tokenCreate: post('/tokens'),
  tokenRemove: remove('/tokens/:id'),
  usageShow: get('/usage'),
  auditList: get('/audit'),
  configList: get('/config'),
  configExplain: get('/config/explain'),
};

/** Where the event streams are, below `/api/v1`. */
export const streamRoutes = { node: '/events', task: '/tasks/:id/events', session: '/sessions/:id/events' } as const;

/** Puts parameters into a path and a query behind it; absent values are left out. */
export const urlOf = (origin: string, path: string, given: { readonly params?: object; readonly query?: object }): string => {
  const params = new Map(Object.entries(given.params ?? {}).map(([name, value]) => [name, String(value)] as const));
  const filled = path.replace(/:([a-z]+)/gi, (_, name: string) => encodeURIComponent(params.get(name) ?? ''));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given.query ?? {}))
    if (value !== undefined && value !== null) query.append(name, String(value));
  const tail = query.size === 0 ? '' : `?${query.toString()}`;
  return `${origin.replace(/\/+$/, '')}/api/v1${filled}${tail}`;
};
