import type { ArgumentSpec, CommandSpec } from '../command.ts';

const project: ArgumentSpec = { name: 'project', required: true, summary: 'id, name or path of a project', completes: 'project' };

export const projectCommands: readonly CommandSpec[] = [
  {
    noun: 'project',
    verb: 'add',
    summary: 'make a repository known to the node',
    arguments: [
      { name: 'source', required: false, summary: 'path or URL (default: the repository of this folder)', completes: 'folder' },
    ],
    options: [{ name: 'name', kind: 'text', value: 'NAME', summary: 'its name (default: the name of the folder)' }],
    examples: [
      { line: 'orrery project add', does: 'the repository of this folder' },
      { line: 'orrery project add https://example.org/site.git --name site', does: 'a remote one' },
    ],
    operations: ['projectAdd'],
    changes: 'once',
    load: async () => (await import('./add.ts')).projectAdd,
  },
  {
    noun: 'project',
    verb: 'list',
    summary: 'list projects',
    examples: [{ line: 'orrery project list', does: 'what the node knows' }],
    operations: ['projectList'],
    load: async () => (await import('./list.ts')).projectList,
  },
  {
    noun: 'project',
    verb: 'show',
    summary: 'show one project',
    arguments: [project],
    examples: [{ line: 'orrery project show site', does: 'its branch, hooks and shape' }],
    operations: ['projectList', 'projectShow'],
    load: async () => (await import('./show.ts')).projectShow,
  },
  {
    noun: 'project',
    verb: 'set',
    summary: 'change a project',
    arguments: [project],
    options: [{ name: 'name', kind: 'text', value: 'NAME', summary: 'new name' }],
    examples: [{ line: 'orrery project set site --name website', does: 'rename it' }],
    operations: ['projectList', 'projectSet'],
    changes: 'plain',
    load: async () => (await import('./set.ts')).projectSet,
  },
  {
    noun: 'project',
    verb: 'remove',
    summary: 'forget a project',
    detail: 'Your repository is not touched. It is refused while unsaved work depends on it; --salvage saves that first.',
    arguments: [project],
    options: [{ name: 'salvage', kind: 'flag', summary: 'save unsaved work first' }],
    examples: [{ line: 'orrery project remove site', does: 'the repository itself stays as it is' }],
    operations: ['projectList', 'projectRemove'],
    changes: 'plain',
    load: async () => (await import('./remove.ts')).projectRemove,
  },
];
