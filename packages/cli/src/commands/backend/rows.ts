import type { CommandSpec } from '../command.ts';

export const backendCommands: readonly CommandSpec[] = [
  {
    noun: 'backend',
    verb: 'list',
    summary: 'list places to run things',
    examples: [{ line: 'orrery backend list', does: 'which work on this machine' }],
    operations: ['backendList'],
    load: async () => (await import('./list.ts')).backendList,
  },
  {
    noun: 'backend',
    verb: 'check',
    summary: 'show what a backend guarantees on this machine, and what it cannot stop',
    detail: 'Ends with 10 when it may not be used or lacks a guarantee.',
    arguments: [
      { name: 'backend', required: false, summary: 'name of a backend (default: the default one)', completes: 'backend' },
    ],
    examples: [{ line: 'orrery backend check sandbox', does: 'each guarantee, and by what it holds' }],
    exits: [10],
    operations: ['backendList'],
    load: async () => (await import('./check.ts')).backendCheck,
  },
];
