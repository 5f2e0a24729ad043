import type { EventBody, Project, Task, TaskResult } from '@orrery/protocol';

/** A text, or what stands for it. */
export const textOf = (value: unknown, absent: string): string => (typeof value === 'string' ? value : absent);

/** How a task goes in the fake node: told by the first word of its prompt. */
export type Play = {
  readonly first: Task;
  readonly answered: Partial<Task>;
  readonly changes: Partial<Task>;
  readonly events: readonly EventBody[];
};

const started = '2026-03-01T12:00:00.000Z';
const ended = '2026-03-01T12:00:21.500Z';
const usage = { calls: 3, inputTokens: 12_300, outputTokens: 950, cachedTokens: 4000, reasoningTokens: 0, costUsd: 0.0421 };

const resultOf = (change: Partial<TaskResult> = {}): TaskResult => ({
  summary: null,
  output: null,
  goal: null,
  baseSha: 'a'.repeat(40),
  headSha: 'b'.repeat(40),
  resultRef: 'refs/orrery/result',
  filesChanged: 1,
  insertions: 2,
  deletions: 1,
  commits: 1,
  salvageRef: null,
  validation: null,
  usage,
  ...change,
});

const stage = (
  name: 'prepare' | 'open' | 'drive' | 'validate' | 'settle',
  options: {
    round?: number;
    tookMs: number;
    state?: 'passed' | 'failed' | 'timeout';
    exitCode?: number;
    output?: string;
    between?: readonly EventBody[];
  },
): EventBody[] => [
  { kind: 'stage.started', attempt: 1, stage: name, round: options.round ?? 1 },
  ...(options.output === undefined
    ? []
    : [
        {
          kind: 'stage.output' as const,
          attempt: 1,
          stage: name,
          round: options.round ?? 1,
          stream: 'stdout' as const,
          text: options.output,
        },
      ]),
  ...(options.between ?? []),
  {
    kind: 'stage.ended',
    attempt: 1,
    stage: name,
    round: options.round ?? 1,
    state: options.state ?? 'passed',
    exitCode: options.exitCode ?? null,
    note: null,
    tookMs: options.tookMs,
  },
];

const opening: readonly EventBody[] = [
  { kind: 'task.created' },
  { kind: 'task.state', state: 'running', waitingFor: null },
  { kind: 'attempt.started', attempt: 1, backend: 'sandbox' },
  ...stage('prepare', { tookMs: 420 }),
  ...stage('open', { tookMs: 1100 }),
];

const firstTurn: readonly EventBody[] = [
  { kind: 'text', row: 'r1', text: 'I look' },
  { kind: 'text', row: 'r1', text: 'I look at the test.\u001b[2J' },
  { kind: 'tool.call', row: 'r2', tool: 'bash', input: '{"command":"sh test.sh"}' },
  { kind: 'tool.result', row: 'r2', tool: 'bash', output: 'sh: not found', outputBytes: 13, failed: true },
  { kind: 'turn.ended', outcome: 'success', failure: null, message: null, resetsAt: null },
];

const endOf = (
  verdict: 'accepted' | 'rejected' | 'failed' | 'limit',
  cause: string | null = null,
  reason: string | null = null,
): EventBody[] => [
  { kind: 'attempt.ended', attempt: 1, verdict, cause, reason },
  { kind: 'task.state', state: verdict, waitingFor: null },
  { kind: 'task.ended', verdict, cause, reason, filesChanged: 1, usage },
];

const rejection = stage('validate', { tookMs: 2100, state: 'failed', exitCode: 1, output: 'ok 1\nnot ok 2 - nine is IX\n' });
const over = (change: Partial<Task>): Partial<Task> => ({ startedAt: started, endedAt: ended, attempts: 1, ...change });

type Course = { readonly events: readonly EventBody[]; readonly changes: Partial<Task> };

const courses: Readonly<Record<string, () => Course>> = {
  retry: () => ({
    events: [
      ...opening,
      ...stage('drive', { tookMs: 12_000, between: firstTurn }),
      ...rejection,
      ...stage('drive', { round: 2, tookMs: 6000, between: [{ kind: 'text', row: 'r3', text: 'Nine as well.' }] }),
      ...stage('validate', { round: 2, tookMs: 1900, output: 'ok 1\nok 2\n' }),
      ...endOf('accepted'),
    ],
    changes: over({ state: 'accepted', verdict: 'accepted', result: resultOf({ summary: 'Nine is IX now.' }) }),
  }),
  reject: () => ({
    events: [
      ...opening,
      ...stage('drive', { tookMs: 12_000 }),
      ...rejection,
      ...endOf('rejected', null, 'validation failed after 1 round'),
    ],
    changes: over({
      state: 'rejected',
      verdict: 'rejected',
      reason: 'validation failed after 1 round',
      result: resultOf({ usage: { ...usage, costUsd: null } }),
    }),
  }),
  timeout: () => ({
    events: [...opening, ...stage('drive', { tookMs: 60_000, state: 'timeout' }), ...endOf('failed', 'timeout')],
    changes: over({ state: 'failed', verdict: 'failed', cause: 'timeout', reason: 'The turn took longer than 60 s.' }),
  }),
  budget: () => ({
    events: [...opening, ...endOf('failed', 'budget')],
    changes: over({ state: 'failed', verdict: 'failed', cause: 'budget', reason: 'The budget of $1 is used up.' }),
  }),
  fail: () => ({
    events: [...opening, ...endOf('failed', 'agent')],
    changes: over({ state: 'failed', verdict: 'failed', cause: 'agent', reason: 'The program ended with 3.' }),
  }),
  limit: () => ({
    events: [...opening, ...endOf('limit')],
    changes: over({ state: 'limit', verdict: 'limit', reason: 'The account is used up until 15:00.' }),
  }),
  person: () => ({
    events: [...opening, { kind: 'task.state', state: 'waiting', waitingFor: 'a person: may it run make?' }],
    changes: { state: 'waiting', waitingFor: 'a person: may it run make?', startedAt: started },
  }),
  hang: () => ({ events: [...opening], changes: { state: 'running', startedAt: started } }),
};

const accepted = (): Course => ({
  events: [...opening, ...stage('drive', { tookMs: 12_000 }), ...stage('validate', { tookMs: 900 }), ...endOf('accepted')],
  changes: over({ state: 'accepted', verdict: 'accepted', result: resultOf() }),
});

type Made = { readonly id: string; readonly body: Record<string, unknown>; readonly project: Project | null };

const recordOf = ({ id, body, project }: Made): Task => ({
  id,
  seq: 1,
  state: 'queued',
  waitingFor: null,
  verdict: null,
  cause: null,
  reason: null,
  agent: null,
  prompt: textOf(body['prompt'], ''),
  promptBytes: textOf(body['prompt'], '').length,
  project: project === null ? null : { id: project.id, name: project.name, path: project.source },
  harness: textOf(body['harness'], 'pi'),
  model: typeof body['model'] === 'string' ? body['model'] : null,
  backend: textOf(body['backend'], 'sandbox'),
  goal: null,
  base: null,
  branch: null,
  readOnly: body['readOnly'] === true,
  interactive: body['interactive'] === true,
  priority: Number(body['priority']),
  continues: null,
  dependsOn: [],
  notBefore: null,
  series: null,
  attempts: 0,
  result: null,
  origin: { kind: 'cli', by: 'ann' },
  requestId: textOf(body['requestId'], ''),
  replayed: false,
  appliedAt: null,
  pullRequest: null,
  createdAt: started,
  startedAt: null,
  endedAt: null,
});

/** The whole course of a task: its record when it was made, its events, and how its record ends. */
export const playTask = ({ id, body, project }: { id: string; body: Record<string, unknown>; project: Project | null }): Play => {
  const first = recordOf({ id, body, project });
  const course = (courses[first.prompt.split(' ')[0] ?? ''] ?? accepted)();
  return {
    first,
    answered: {
      state: 'queued',
      verdict: null,
      cause: null,
      reason: null,
      result: null,
      attempts: 0,
      startedAt: null,
      endedAt: null,
      waitingFor: null,
    },
    changes: course.changes,
    events: course.events,
  };
};
