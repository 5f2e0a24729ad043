import type { Bench } from './fake-world.ts';
import { ago, idOf } from './fake-state.ts';
import { playTask } from './fake-task.ts';

const site = (bench: Bench): void => {
  bench.node.state.projects.push({
    id: idOf('project', 1),
    seq: 1,
    name: 'site',
    source: bench.repository,
    kind: 'repository',
    defaultBranch: 'main',
    headSha: 'd'.repeat(40),
    notes: [],
    hooks: ['validation'],
    tasks: 2,
    createdAt: ago(86_400_000 * 3),
  });
};

const task = (bench: Bench, number: number, prompt: string): void => {
  const { state, append } = bench.node;
  const play = playTask({
    id: idOf('task', number),
    body: { prompt, priority: 10, requestId: `old-${number}` },
    project: state.projects[0] ?? null,
  });
  state.tasks.push(Object.assign(play.first, play.changes, { createdAt: ago(60_000 * (60 - number)) }));
  for (const event of play.events) append(play.first.id, event);
};

const things = (bench: Bench): void => {
  const { state } = bench.node;
  state.salvage.push({
    id: idOf('salvage', 1),
    kind: 'commit',
    bytes: null,
    projectId: idOf('project', 1),
    projectName: 'site',
    taskId: idOf('task', 1),
    ref: 'refs/orrery/salvage/tsk_1/1',
    sha: 'c'.repeat(40),
    reason: 'the task was cancelled',
    files: 2,
    createdAt: ago(120_000),
  });
  state.tokens.push({
    id: idOf('token', 1),
    name: 'ci',
    scope: 'operator',
    createdAt: ago(86_400_000),
    lastUsedAt: null,
    expiresAt: null,
  });
  usage(bench);
};

const usage = ({ node: { state } }: Bench): void => {
  state.usage.push(
    {
      provider: 'anthropic',
      model: 'sonnet',
      calls: 12,
      inputTokens: 1_234_567,
      outputTokens: 4567,
      cachedTokens: 900,
      reasoningTokens: 0,
      costUsd: 1.5,
    },
    {
      provider: 'local',
      model: 'tiny',
      calls: 1,
      inputTokens: 10,
      outputTokens: 5,
      cachedTokens: 0,
      reasoningTokens: 0,
      costUsd: null,
    },
  );
};

/** States that a transcript may begin with, by name. */
export const scenarios: Readonly<Record<string, (bench: Bench) => void>> = {
  empty: () => undefined,
  'no-node': (bench) => bench.describeNode(false),
  'other-node': (bench) => bench.describeNode(true, { installationId: 'ins_other' }),
  'old-node': (bench) => void bench.node.state.lacks.push('taskApply', 'salvageList'),
  tasks: (bench) => {
    site(bench);
    task(bench, 1, 'retry the roman numerals');
    task(bench, 2, 'reject this one');
    task(bench, 3, 'hang on');
    task(bench, 4, 'dirty but good');
  },
  things: (bench) => {
    site(bench);
    things(bench);
  },
  policies: (bench) => void (bench.node.state.policies = 'some'),
  'broken-policies': (bench) => void (bench.node.state.policies = 'broken'),
  demo: (bench) => {
    const task = { prompt: 'retry the roman numerals', model: 'scripted/demo', maxRetries: 3 };
    bench.nodeAnswers.set('demo', [
      { result: { source: `${bench.folder}/demo`, task, realModel: ['orrery secret set anthropic'] } },
    ]);
  },
  'broken-sandbox': (bench) => {
    Object.assign(bench.node.state.backends[0] ?? {}, { usable: false, problem: 'no user namespaces' });
  },
  selftest: (bench) => {
    bench.nodeAnswers.set('selftest sandbox', [
      { line: { area: 'files', state: 'ok', message: 'the home folder is denied', fix: null } },
      { line: { area: 'udp', state: 'problem', message: 'a packet left', fix: 'orrery doctor' } },
      { result: { backend: 'sandbox' } },
    ]);
    bench.nodeAnswers.set('secret list', [{ result: { items: [{ name: 'anthropic' }] } }]);
    bench.nodeAnswers.set('config schema', [{ result: { type: 'object' } }]);
  },
};
