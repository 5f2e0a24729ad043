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
    summary: 'make a branch of saved work in the repository, or a folder of an archive',
    detail: 'Nothing that is checked out is touched. An archive is unpacked into a folder that is made for it, by the owner.',
    arguments: [salvage],
    options: [
      { name: 'branch', kind: 'text', value: 'NAME', summary: 'name of the branch' },
      { name: 'folder', kind: 'text', value: 'FOLDER', summary: 'folder to make, for an archive', completes: 'folder' },
    ],
    examples: [{ line: 'orrery salvage restore slv_… --branch rescue', does: 'then: git switch rescue' }],
    operations: ['salvageRestore'],
    changes: 'plain',
    load: async () => (await import('./restore.ts')).salvageRestore,
  },
  {
    noun: 'salvage',
    verb: 'delete',
    summary: 'delete saved work for good',
    arguments: [salvage],
    examples: [{ line: 'orrery salvage delete slv_…', does: 'look first: orrery salvage show slv_…' }],
    operations: ['salvageDelete'],
    changes: 'plain',
    load: async () => (await import('./delete.ts')).salvageDelete,
  },
  {
    noun: 'salvage',
    verb: 'prune',
    summary: 'delete saved work that is old',
    options: [
      { name: 'older-than', kind: 'duration', value: 'TIME', summary: 'saved longer ago than this (default: 90 days)' },
      { name: 'dry-run', kind: 'flag', summary: 'only say which' },
    ],
    examples: [{ line: 'orrery salvage prune --older-than 180d --dry-run', does: 'what would go, commits and archives' }],
    operations: ['salvagePrune'],
    changes: 'plain',
    load: async () => (await import('./delete.ts')).salvagePrune,
  },
];
