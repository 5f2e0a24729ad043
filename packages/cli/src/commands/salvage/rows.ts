import type { ArgumentSpec, CommandSpec } from '../command.ts';

const salvage: ArgumentSpec = { name: 'salvage', required: true, summary: 'id of saved work', completes: 'salvage' };

export const salvageCommands: readonly CommandSpec[] = [
  {
    noun: 'salvage',
    verb: 'list',
    summary: 'list saved work',
    options: [{ name: 'project', kind: 'text', value: 'PROJECT', summary: 'only of one project', completes: 'project' }],
    examples: [{ line: 'orrery salvage list', does: 'what was saved before something was removed' }],
    operations: ['salvageList'],
    load: async () => (await import('./list.ts')).salvageList,
  },
  {
    noun: 'salvage',
    verb: 'show',
    summary: 'show saved work with its files',
    arguments: [salvage],
    examples: [{ line: 'orrery salvage show slv_…', does: 'ref, reason, files' }],
    operations: ['salvageShow'],
    load: async () => (await import('./show.ts')).salvageShow,
  },
  {
    noun: 'salvage',
    verb: 'restore',
    summary: 'make a branch of saved work in the repository',
    detail: 'Nothing that is checked out is touched.',
    arguments: [salvage],
    options: [{ name: 'branch', kind: 'text', value: 'NAME', summary: 'name of the branch' }],
    examples: [{ line: 'orrery salvage restore slv_… --branch rescue', does: 'then: git switch rescue' }],
    operations: ['salvageRestore'],
    changes: 'plain',
    load: async () => (await import('./restore.ts')).salvageRestore,
  },
];
