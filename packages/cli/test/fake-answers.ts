// What the fake node answers to each operation.
import {
  operations,
  OrreryError,
  type EventBody,
  type NodeFacts,
  type OperationName,
  type Project,
  type Task,
} from '@orrery/protocol';
import { doctorLines, harnesses, patch, stages } from './fake-facts.ts';
import { loginAnswer } from './fake-logins.ts';
import { policyAnswer } from './fake-policies.ts';
import { ago, idOf, type FakeState } from './fake-state.ts';
import { playTask, textOf, type Play } from './fake-task.ts';

/** One call, read by the schemas. */
export type Call = {
  readonly name: OperationName;
  readonly params: Record<string, string>;
  readonly query: Record<string, unknown>;
  readonly body: Record<string, unknown>;
};

/** What a handler needs beside the state. */
export type Around = { readonly append: (taskId: string | null, body: EventBody) => void; readonly url: string };

const find = <Item extends { readonly id: string }>(items: readonly Item[], id: string | undefined): Item => {
  const found = items.find((item) => item.id === id);
  if (found === undefined)
    throw new OrreryError('not_found', 'There is nothing of that id.', {
      rule: 'Ids are listed by the list commands.',
      fix: 'orrery task list',
    });
  return found;
};

const factsOf = (state: FakeState, url: string): NodeFacts => ({
  name: 'fake',
  version: '0.1.0',
  installationId: state.installationId,
  generation: 'gen_1',
  pid: 4242,
  startedAt: ago(7_200_000),
  dataDirectory: '/data/orrery',
  url,
  seq: state.events.length,
  state: state.stopping ? 'draining' : 'serving',
  defaultBackend: 'sandbox',
  defaultHarness: 'pi',
  tasks: { queued: countOf(state, 'queued'), waiting: countOf(state, 'waiting'), running: countOf(state, 'running') },
  queuePaused: state.queuePaused,
  memoryBytes: 104_857_600,
});

const countOf = (state: FakeState, wanted: Task['state']): number => state.tasks.filter((task) => task.state === wanted).length;

/** What the fake node answers to a call. */
export const answerOf = (call: Call, state: FakeState, around: Around): unknown => {
  const { name, params, body } = call;
  const seq = state.events.length;
  const page = (items: readonly unknown[]): unknown => ({ items, nextCursor: null, seq });
  const lists: Partial<Record<OperationName, () => unknown>> = {
    health: () => ({ ok: true }),
    nodeShow: () => factsOf(state, around.url),
    nodeDoctor: () => ({ lines: doctorLines, checkedAt: ago(0) }),
    capabilities: () => ({
      apiVersion: 1,
      version: '0.1.0',
      operations: Object.keys(operations).filter((one) => !state.lacks.includes(one as OperationName)),
    }),
    projectList: () => page(state.projects),
    projectShow: () => find(state.projects, params['id']),
    taskShow: () => find(state.tasks, params['id']),
    taskAttempts: () => ({ items: attemptsOf(find(state.tasks, params['id'])), seq }),
    taskDiff: () => diffOf(find(state.tasks, params['id']), state.patch),
    taskDescribe: () => ({ runs: [{ stage: 'drive', text: 'pi --print (token: …)\n' }] }),
    backendList: () => ({ items: state.backends }),
    harnessList: () => ({ items: harnesses }),
    salvageList: () => page(state.salvage),
    salvageShow: () => ({ ...find(state.salvage, params['id']), paths: ['src/roman.ts', 'notes.md'] }),
    tokenList: () => ({ items: state.tokens }),
    usageShow: () => ({ items: state.usage }),
    configExplain: () => ({
      key: call.query['key'],
      value: 2,
      origin: '/config/config.yaml',
      shadows: [{ origin: 'default', value: 4 }],
      restart: false,
      description: 'Tasks that run at once.',
    }),
    taskList: () => page(tasksOf(call, state)),
    taskLog: () =>
      page(
        state.events
          .filter((event) => event.taskId === params['id'] && (event.sequence ?? 0) > Number(call.query['after']))
          .slice(0, Number(call.query['limit'])),
      ),
  };
  const list = lists[name];
  const decided = policyAnswer(name, body, state.policies) ?? loginAnswer(name, { params, body }, state);
  if (decided !== undefined) return decided;
  return list === undefined ? changeOf({ name, params, body, state, around, query: call.query }) : list();
};

const tasksOf = ({ query }: Call, state: FakeState): Task[] =>
  state.tasks
    .filter(
      (task) =>
        (query['state'] === undefined || task.state === query['state']) &&
        (query['project'] === undefined || task.project?.id === query['project']),
    )
    .toSorted((left, right) => (left.id < right.id ? 1 : -1))
    .slice(0, Number(query['limit']));

const attemptsOf = (task: Task): unknown[] =>
  task.attempts === 0
    ? []
    : [
        {
          id: 'att_1',
          taskId: task.id,
          number: 1,
          environmentId: 'env_1',
          conversation: null,
          backend: task.backend,
          guarantees: [{ guarantee: 'network', held: false, by: 'none', missing: 'no namespace' }],
          verdict: task.verdict,
          cause: null,
          reason: null,
          stages,
          startedAt: ago(60_000),
          endedAt: ago(40_000),
        },
      ];

const diffOf = (task: Task, shown = patch): unknown => ({
  taskId: task.id,
  baseSha: 'a'.repeat(40),
  headSha: 'b'.repeat(40),
  files:
    (task.result?.filesChanged ?? 0) === 0
      ? []
      : [{ path: 'roman.sh', oldPath: null, status: 'modified', insertions: 2, deletions: 1 }],
  patch: (task.result?.filesChanged ?? 0) === 0 ? '' : shown,
  truncated: false,
});

type Change = {
  readonly name: OperationName;
  readonly params: Record<string, string>;
  readonly body: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly state: FakeState;
  readonly around: Around;
};

const changeOf = (change: Change): unknown => {
  const { name, params, body, state, around } = change;
  switch (name) {
    case 'nodeDrain':
      state.stopping = true;
      return { ok: true };
    case 'queuePause':
    case 'queueResume':
      state.queuePaused = name === 'queuePause';
      return { ok: true };
    case 'projectAdd':
      return addProject(body, state);
    case 'projectSet':
      return Object.assign(find(state.projects, params['id']), { name: body['name'] });
    case 'projectRemove':
      state.projects.splice(state.projects.indexOf(find(state.projects, params['id'])), 1);
      return { ok: true };
    case 'taskAdd':
      return addTask(body, state, around.append);
    case 'taskCancel':
    case 'taskRetry':
      return turnTask(find(state.tasks, params['id']), name, around.append);
    case 'taskApply':
      return applyTask(find(state.tasks, params['id']), body);
    case 'harnessInstall':
      return { id: params['id'], version: '1.2.3', path: '/data/orrery/programs/codex', alreadyThere: false, tookMs: 4200 };
    case 'salvageRestore':
      return restored(find(state.salvage, params['id']).id, body);
    case 'tokenCreate':
      return madeToken(body);
    case 'tokenRemove':
      state.tokens.splice(state.tokens.indexOf(find(state.tokens, params['id'])), 1);
      return { ok: true };
    default:
      throw new OrreryError('unsupported', `The fake node does not do ${name}.`);
  }
};

const restored = (id: string, body: Record<string, unknown>): unknown => ({
  id,
  branch: body['branch'] ?? 'orrery/salvage',
  sha: 'c'.repeat(40),
  folder: null,
});

const madeToken = (body: Record<string, unknown>): unknown => ({
  id: idOf('token', 9),
  name: body['name'],
  scope: body['scope'],
  createdAt: ago(0),
  lastUsedAt: null,
  expiresAt: body['expiresAt'] ?? null,
  token: 'orr_operator_secret',
});

const addProject = (body: Record<string, unknown>, state: FakeState): Project => {
  const source = textOf(body['source'], '');
  const known = state.projects.find((project) => project.source === source);
  if (known !== undefined) return known;
  const project: Project = {
    id: idOf('project', state.projects.length + 1),
    seq: 0,
    name: textOf(body['name'], source.split('/').at(-1) ?? ''),
    source,
    kind: 'repository',
    defaultBranch: 'main',
    headSha: 'd'.repeat(40),
    notes: [],
    hooks: ['validation'],
    tasks: 0,
    createdAt: ago(0),
  };
  state.projects.push(project);
  return project;
};

const addTask = (body: Record<string, unknown>, state: FakeState, append: Around['append']): Task => {
  const key = textOf(body['requestId'], '');
  const known = state.tasks.find(({ requestId }) => requestId === key && key !== '');
  if (known !== undefined) return { ...known, replayed: true };
  const project = state.projects.find(({ id }) => id === body['project']) ?? null;
  const play: Play = playTask({ id: idOf('task', state.tasks.length + 1), body, project });
  state.tasks.push(play.first);
  for (const event of play.events) append(play.first.id, event);
  Object.assign(play.first, play.changes);
  return { ...play.first, ...play.answered };
};

const turnTask = (task: Task, name: 'taskCancel' | 'taskRetry', append: Around['append']): Task => {
  if (name === 'taskCancel') {
    Object.assign(task, { state: 'cancelled', verdict: 'cancelled' });
    append(task.id, {
      kind: 'task.ended',
      verdict: 'cancelled',
      cause: null,
      reason: null,
      filesChanged: 0,
      usage: { calls: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0, costUsd: 0 },
    });
    return task;
  }
  if (task.state === 'accepted')
    throw new OrreryError('conflict', 'The task was accepted already.', {
      rule: 'A task that was accepted is not tried again.',
      fix: `orrery task show ${task.id}`,
    });
  return Object.assign(task, { state: 'queued', verdict: null });
};

const applyTask = (task: Task, body: Record<string, unknown>): unknown => {
  if (task.prompt.includes('dirty') && body['mode'] !== 'branch')
    throw new OrreryError('dirty_tree', 'The tree has changes of your own.', {
      rule: 'A dirty tree is never touched.',
      fix: `orrery task apply ${task.id} --mode branch`,
      details: { files: 1 },
    });
  const without = (body['without'] ?? []) as { path: string }[];
  return {
    taskId: task.id,
    branch: body['branch'] ?? 'main',
    headSha: 'b'.repeat(40),
    treeUpdated: body['mode'] !== 'branch',
    note: `main was moved on by 1 commit${without.map(({ path }) => `, without ${path}`).join('')}.`,
  };
};
