import type { CommandSpec } from '../command.ts';

export const queueCommands: readonly CommandSpec[] = [
  {
    noun: 'queue',
    verb: 'list',
    summary: 'list what runs and what waits',
    examples: [{ line: 'orrery queue list', does: 'running first, then in the order of the queue' }],
    operations: ['taskList', 'nodeShow'],
    load: async () => (await import('./list.ts')).queueList,
  },
  {
    noun: 'queue',
    verb: 'pause',
    summary: 'start nothing new',
    examples: [{ line: 'orrery queue pause', does: 'what runs goes on' }],
    operations: ['queuePause'],
    changes: 'once',
    load: async () => (await import('./pause.ts')).queuePause,
  },
  {
    noun: 'queue',
    verb: 'resume',
    summary: 'start tasks again',
    examples: [{ line: 'orrery queue resume', does: 'after a pause' }],
    operations: ['queueResume'],
    changes: 'once',
    load: async () => (await import('./resume.ts')).queueResume,
  },
];
