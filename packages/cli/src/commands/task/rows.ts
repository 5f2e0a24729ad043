import { pullRequestOptions } from '../pull-request.ts';
import { taskOptions } from '../run/rows.ts';
import type { ArgumentSpec, CommandSpec } from '../command.ts';

const task: ArgumentSpec = {
  name: 'task',
  required: true,
  summary: 'id of a task, the beginning of one, or last',
  completes: 'task',
};

export const taskCommands: readonly CommandSpec[] = [
  {
    noun: 'task',
    verb: 'add',
    summary: 'queue a task and end',
    arguments: [{ name: 'prompt', required: false, summary: 'what to do; - reads it from standard input' }],
    options: taskOptions,
    tail: 'COMMAND…',
    examples: [
      { line: 'orrery task add "update the docs" --project site', does: 'the node begins it when there is room' },
      { line: 'orrery task add --request-id nightly-42 - < task.md', does: 'done once, however often it is sent' },
    ],
    operations: ['taskAdd', 'taskList', 'projectList', 'projectAdd'],
    changes: 'once',
    load: async () => (await import('./add.ts')).taskAdd,
  },
  {
    noun: 'task',
    verb: 'list',
    summary: 'list tasks, newest first',
    options: [
      {
        name: 'state',
        kind: 'text',
        value: 'STATE',
        summary: 'only those',
        choices: ['queued', 'waiting', 'running', 'accepted', 'rejected', 'failed', 'cancelled', 'limit', 'interrupted'],
      },
      { name: 'project', kind: 'text', value: 'PROJECT', summary: 'only of one project', completes: 'project' },
      { name: 'series', kind: 'text', value: 'NAME', summary: 'only of one series' },
      { name: 'limit', kind: 'number', value: 'N', summary: 'at most so many (default: 20)' },
    ],
    examples: [
      { line: 'orrery task list', does: 'the newest 20' },
      { line: 'orrery task list --state rejected --json', does: 'what validation refused, for a script' },
    ],
    operations: ['taskList'],
    load: async () => (await import('./list.ts')).taskList,
  },
  {
    noun: 'task',
    verb: 'show',
    summary: 'show one task, its attempts and stages',
    arguments: [task],
    examples: [{ line: 'orrery task show last', does: 'the newest one' }],
    operations: ['taskShow', 'taskAttempts'],
    load: async () => (await import('./show.ts')).taskShow,
  },
  {
    noun: 'task',
    verb: 'wait',
    summary: 'wait until a task is over and end with its exit code',
    arguments: [task],
    options: [
      { name: 'timeout', kind: 'duration', value: 'TIME', summary: 'longest wait; then it ends with 5 and the task goes on' },
    ],
    examples: [
      { line: 'orrery task wait last', does: 'ends like run: 0 accepted, 9 rejected, …' },
      { line: 'orrery task wait last --timeout 10m', does: 'at most ten minutes' },
    ],
    exits: [5, 6, 9, 10, 130, 143],
    operations: ['taskShow'],
    load: async () => (await import('./wait.ts')).taskWait,
  },
  {
    noun: 'task',
    verb: 'log',
    summary: 'print what happened in a task',
    arguments: [task],
    options: [
      { name: 'follow', kind: 'flag', summary: 'go on until the task is over' },
      { name: 'after', kind: 'number', value: 'N', summary: 'begin after that event of the task' },
    ],
    examples: [
      { line: 'orrery task log last', does: 'stages, agent, tools, validation' },
      { line: 'orrery task log last --follow', does: 'watch it again after Ctrl-C' },
      { line: 'orrery task log last --jsonl', does: 'every event, one a line' },
    ],
    exits: [130, 143],
    operations: ['taskShow', 'taskLog'],
    follows: true,
    load: async () => (await import('./log.ts')).taskLog,
  },
  {
    noun: 'task',
    verb: 'attach',
    summary: 'come back to the full screen of a task (run --tui)',
    detail: 'Ctrl-] leaves it running. When the program ends, it is checked like any run, and its verdict is the exit code.',
    arguments: [task],
    options: [
      { name: 'take', kind: 'flag', summary: 'write in it although another viewer does' },
      { name: 'clipboard', kind: 'flag', summary: 'let its programs set the clipboard of this terminal' },
      { name: 'watch', kind: 'flag', summary: 'only look; the size stays' },
    ],
    examples: [
      { line: 'orrery task attach last', does: 'the same screen again' },
      { line: 'orrery task attach last --take', does: 'from another terminal, and write from here' },
    ],
    exits: [3, 5, 8, 9, 10, 130, 143],
    operations: ['taskShow', 'taskAttempts', 'terminalList'],
    load: async () => (await import('./attach.ts')).taskAttach,
  },
  {
    noun: 'task',
    verb: 'diff',
    summary: 'show the change that a task made',
    detail:
      'On a terminal without control characters and through $ORRERY_PAGER, $GIT_PAGER or $PAGER; in a pipe or file byte for byte, as git apply wants it.',
    arguments: [task],
    options: [
      { name: 'stat', kind: 'flag', summary: 'only the files and how much changed' },
      { name: 'no-pager', kind: 'flag', summary: 'print it without a pager' },
    ],
    examples: [
      { line: 'orrery task diff last', does: 'as a patch' },
      { line: 'orrery task diff last | git apply', does: 'bring it anywhere' },
    ],
    operations: ['taskDiff'],
    load: async () => (await import('./diff.ts')).taskDiff,
  },
  {
    noun: 'task',
    verb: 'cancel',
    summary: 'end a task and every process of it',
    detail: 'What the agent did so far is saved first.',
    arguments: [task],
    examples: [{ line: 'orrery task cancel last', does: 'what it did is kept as salvage' }],
    operations: ['taskCancel'],
    changes: 'once',
    load: async () => (await import('./cancel.ts')).taskCancel,
  },
  {
    noun: 'task',
    verb: 'retry',
    summary: 'queue another attempt of a task',
    arguments: [task],
    examples: [{ line: 'orrery task retry last', does: 'the same task, another attempt' }],
    operations: ['taskRetry'],
    changes: 'once',
    load: async () => (await import('./retry.ts')).taskRetry,
  },
  {
    noun: 'task',
    verb: 'apply',
    summary: 'bring the result of a task into the repository',
    detail: 'A tree with changes of your own is never touched: it is refused, and nothing is merged over them.',
    arguments: [task],
    options: [
      {
        name: 'mode',
        kind: 'text',
        value: 'MODE',
        summary: 'tree also updates a clean checked-out tree, branch only writes a branch (default: tree)',
        choices: ['tree', 'branch'],
      },
      { name: 'branch', kind: 'text', value: 'NAME', summary: 'name of the branch' },
      { name: 'without', kind: 'texts', value: 'FILE', summary: 'leave out what it changes in this file; may be given again' },
    ],
    examples: [
      { line: 'orrery task apply last', does: 'into the clean tree that is checked out' },
      { line: 'orrery task apply last --mode branch --branch fix/test', does: 'as a branch, leaving the tree alone' },
      { line: 'orrery task apply last --without package-lock.json', does: 'all but what it changes in one file, as one commit' },
    ],
    operations: ['taskApply'],
    changes: 'plain',
    load: async () => (await import('./apply.ts')).taskApply,
  },
  {
    noun: 'task',
    verb: 'pr',
    summary: 'push the result of a task and open a pull request',
    detail:
      'At a code host of the configuration (codehosts). Run again it brings the same pull request up to the result, and opens no second one, whatever cut the first try off.',
    arguments: [task],
    options: [
      ...pullRequestOptions,
      { name: 'without', kind: 'texts', value: 'FILE', summary: 'leave out what it changes in this file; may be given again' },
    ],
    examples: [
      { line: 'orrery task pr last', does: 'from orrery/<id> into the branch that it began at' },
      { line: 'orrery task pr last --draft --base main', does: 'as a draft, into main' },
    ],
    operations: ['taskPullRequestOpen'],
    changes: 'once',
    load: async () => (await import('./pr.ts')).taskPr,
  },
];
