import type { CommandSpec } from '../command.ts';

export const nodeCommands: readonly CommandSpec[] = [
  {
    noun: null,
    verb: 'up',
    summary: 'start the node of this data directory',
    detail:
      'In the foreground it prints what happens: tasks, stages, verdicts. Ctrl-C stops it; agents that run go on in their keepers and are found again by the next start.',
    options: [
      { name: 'detach', kind: 'flag', summary: 'run in the background and end when it is ready' },
      {
        name: 'listen',
        kind: 'text',
        value: 'HOST:PORT',
        summary: 'where the API listens (default: the configuration, then loopback)',
      },
      {
        name: 'insecure-bind',
        kind: 'flag',
        summary: 'listen beyond this machine without TLS, knowing that tokens go in the clear',
      },
    ],
    examples: [
      { line: 'orrery up', does: 'in the foreground, with live lines' },
      { line: 'orrery up --detach', does: 'in the background; orrery down stops it' },
    ],
    exits: [4, 8],
    follows: true,
    load: async () => (await import('./up.ts')).up,
  },
  {
    noun: null,
    verb: 'down',
    summary: 'stop the running node',
    detail:
      'Takes no new work, waits for what runs, then stops. --now does not wait: what runs goes on in its keepers until the next start.',
    options: [
      { name: 'now', kind: 'flag', summary: 'do not wait for running tasks' },
      {
        name: 'prune',
        kind: 'flag',
        summary: 'first remove what this installation left in container engines, clusters and hosts',
      },
      {
        name: 'dry-run',
        kind: 'flag',
        summary: 'with --prune: only say which environments something would be removed of; the node goes on',
      },
      { name: 'timeout', kind: 'duration', value: 'TIME', summary: 'how long to wait for it to stop (default: 10m)' },
    ],
    examples: [
      { line: 'orrery down', does: 'when the running tasks are over' },
      { line: 'orrery down --now', does: 'at once' },
      { line: 'orrery down --prune --dry-run', does: 'what --prune would remove' },
    ],
    exits: [3, 4, 5, 8],
    changes: 'plain',
    load: async () => (await import('./down.ts')).down,
  },
  {
    noun: null,
    verb: 'open',
    summary: 'open the web client in a browser',
    detail: 'A link lets one browser in, once. What lets in stands behind the # of the address, which no server is sent.',
    options: [
      { name: 'print', kind: 'flag', summary: 'print the link only' },
      {
        name: 'scope',
        kind: 'text',
        value: 'SCOPE',
        summary: 'what the browser may do (default: what this token may)',
        choices: ['viewer', 'operator', 'owner'],
      },
    ],
    examples: [
      { line: 'orrery open', does: 'in your browser' },
      { line: 'orrery open --print --scope viewer', does: 'a link for somebody who only looks' },
    ],
    exits: [4, 10],
    operations: ['loginLink'],
    load: async () => (await import('./open.ts')).openWeb,
  },
  {
    noun: null,
    verb: 'desktop',
    summary: 'open the web client in a window of its own',
    detail: 'Needs Chromium, Chrome, Edge or Brave.',
    examples: [{ line: 'orrery desktop', does: 'a window without a browser around it' }],
    exits: [4, 8, 10],
    operations: ['loginLink'],
    load: async () => (await import('./desktop.ts')).desktop,
  },
  {
    noun: null,
    verb: 'status',
    summary: 'show the running node and what it does',
    examples: [{ line: 'orrery status', does: 'who it is, where it is, what runs and waits' }],
    operations: ['nodeShow', 'taskList'],
    load: async () => (await import('./status.ts')).status,
  },
  {
    noun: null,
    verb: 'doctor',
    summary: 'find what is wrong and how to mend it',
    detail: 'Ends with 1 when there is a problem; warnings end with 0.',
    examples: [{ line: 'orrery doctor', does: 'checks sandbox, disk, store, Git, agent programs' }],
    operations: ['nodeDoctor'],
    load: async () => (await import('./doctor.ts')).doctor,
  },
  {
    noun: null,
    verb: 'usage',
    summary: 'show tokens and cost by model',
    options: [{ name: 'task', kind: 'text', value: 'TASK', summary: 'of one task only', completes: 'task' }],
    examples: [
      { line: 'orrery usage', does: 'of everything' },
      { line: 'orrery usage --task last', does: 'of the newest task' },
    ],
    operations: ['usageShow'],
    load: async () => (await import('./usage.ts')).usage,
  },
  {
    noun: null,
    verb: 'audit',
    summary: 'show who did what, newest first',
    options: [
      { name: 'action', kind: 'text', value: 'ACTION', summary: 'only this, or all that begin with this word' },
      { name: 'actor', kind: 'text', value: 'ACTOR', summary: 'only by token:NAME, or node' },
      { name: 'outcome', kind: 'text', value: 'END', choices: ['done', 'refused', 'failed'], summary: 'only what ended so' },
    ],
    examples: [
      { line: 'orrery audit', does: 'the newest 50' },
      { line: 'orrery audit --action egress --outcome refused', does: 'where programs were not let out' },
    ],
    operations: ['auditList'],
    load: async () => (await import('./audit.ts')).audit,
  },
];
