import type { CommandSpec, OptionSpec } from '../command.ts';

/** What a task is made of, beside its prompt: the same for `run` and `task add`. */
export const taskOptions: readonly OptionSpec[] = [
  {
    name: 'project',
    kind: 'text',
    value: 'PROJECT',
    summary: 'id, name or path of a project (default: the repository of this folder)',
    completes: 'project',
  },
  { name: 'harness', kind: 'text', value: 'HARNESS', summary: 'agent program', completes: 'harness' },
  { name: 'model', kind: 'text', value: 'MODEL', summary: 'model' },
  { name: 'effort', kind: 'text', value: 'EFFORT', summary: 'how hard the model thinks' },
  { name: 'backend', kind: 'text', value: 'BACKEND', summary: 'where it runs', completes: 'backend' },
  {
    name: 'env',
    kind: 'text',
    value: 'ENV',
    summary: 'work in this environment, after its set-up and one task at a time (orrery env)',
    completes: 'environment',
  },
  { name: 'base', kind: 'text', value: 'REF', summary: 'branch, tag or commit to begin at (default: what is checked out)' },
  { name: 'branch', kind: 'text', value: 'NAME', summary: 'branch of the result (default: orrery/<task>)' },
  { name: 'max-retries', kind: 'number', value: 'N', summary: 'how often the agent is sent back when validation fails' },
  { name: 'budget', kind: 'usd', value: 'USD', summary: 'most that its model calls may cost' },
  { name: 'limit-wall', kind: 'duration', value: 'TIME', summary: 'longest time of an attempt (30m)' },
  { name: 'limit-turn', kind: 'duration', value: 'TIME', summary: 'longest time of one turn' },
  { name: 'limit-hook', kind: 'duration', value: 'TIME', summary: 'longest time of one hook' },
  { name: 'limit-cpu', kind: 'duration', value: 'TIME', summary: 'most processor time' },
  { name: 'limit-memory', kind: 'bytes', value: 'SIZE', summary: 'most memory (2G)' },
  { name: 'limit-processes', kind: 'number', value: 'N', summary: 'most processes' },
  { name: 'limit-output', kind: 'bytes', value: 'SIZE', summary: 'most output of one program' },
  { name: 'limit-disk', kind: 'bytes', value: 'SIZE', summary: 'most disk of checkout and home; measured at intervals' },
  {
    name: 'memory',
    kind: 'list',
    value: 'KIND,…',
    summary: 'memories it gets: global, project, agent (default: what the project says)',
  },
  { name: 'read-only', kind: 'flag', summary: 'the agent may change nothing' },
  { name: 'priority', kind: 'number', value: 'N', summary: 'place in the queue, 0 to 100; higher is sooner' },
  { name: 'egress', kind: 'list', value: 'HOST,…', summary: "hosts that it may reach beside the project's own" },
  { name: 'command', kind: 'flag', summary: 'no agent: run the command behind --' },
];

export const runCommands: readonly CommandSpec[] = [
  {
    noun: null,
    verb: 'run',
    summary: 'give a task to an agent, watch it and get its verdict',
    detail:
      "The repository of the current folder becomes a project when it is not one yet; its files are never touched while the agent works. Ctrl-C stops watching, a second Ctrl-C cancels the task. It ends with 0 when the result was accepted, 9 when the repository's validation rejected it, 10 for a policy, limit or budget, 5 for a deadline, 6 when a person must answer.",
    arguments: [{ name: 'prompt', required: false, summary: 'what to do; - reads it from standard input' }],
    options: [
      ...taskOptions,
      { name: 'apply', kind: 'flag', summary: 'bring an accepted result into the repository' },
      { name: 'detach', kind: 'flag', summary: 'do not watch: print the id and end' },
      { name: 'debug', kind: 'flag', summary: 'print what was really run, secrets masked' },
      { name: 'no-start', kind: 'flag', summary: 'refuse when no node is running, instead of starting one' },
    ],
    tail: 'COMMAND…',
    examples: [
      { line: 'orrery run "fix the failing test"', does: 'in a repository: an agent works, the repository checks' },
      { line: 'orrery run --harness codex --budget 2.50 - < task.md', does: 'another agent, a budget, the prompt from a file' },
      { line: 'orrery run --command -- make lint', does: 'no model: run a command in the sandbox and keep what it changed' },
      { line: 'orrery run "update the docs" --detach', does: 'queue it and go on' },
    ],
    exits: [3, 4, 5, 6, 7, 8, 9, 10, 130, 143],
    operations: ['taskAdd', 'taskShow', 'projectList', 'projectAdd'],
    changes: 'once',
    follows: true,
    load: async () => (await import('./run.ts')).run,
  },
  {
    noun: null,
    verb: 'demo',
    summary: 'watch a whole run in a small repository, without a key',
    detail:
      'Makes a small repository with a failing test. A scripted model works on it in a real agent program and a real sandbox: the first attempt fails validation, the second passes.',
    options: [
      {
        name: 'folder',
        kind: 'text',
        value: 'FOLDER',
        summary: 'new folder for the repository (default: one in the temporary folder)',
        completes: 'folder',
      },
      {
        name: 'backend',
        kind: 'text',
        value: 'BACKEND',
        summary: 'where it runs (default: the strongest sandbox of this machine)',
        completes: 'backend',
      },
      { name: 'harness', kind: 'text', value: 'HARNESS', summary: 'agent program', completes: 'harness' },
      { name: 'no-start', kind: 'flag', summary: 'refuse when no node is running, instead of starting one' },
    ],
    examples: [
      { line: 'orrery demo', does: 'a failing test, an agent, a sandbox, a verdict' },
      { line: 'orrery demo --backend local', does: 'on a machine whose sandbox lacks something, knowing that' },
    ],
    exits: [3, 4, 5, 8, 9, 10, 130, 143],
    operations: ['taskAdd', 'taskShow', 'projectAdd', 'backendList', 'harnessList'],
    changes: 'once',
    follows: true,
    load: async () => (await import('./demo.ts')).demo,
  },
];
