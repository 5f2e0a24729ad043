import type { CommandSpec, OptionSpec } from '../command.ts';

const project: OptionSpec = {
  name: 'project',
  kind: 'text',
  value: 'PROJECT',
  summary: 'id, name or path of a project (default: the repository of this folder)',
  completes: 'project',
};

export const agentCommands: readonly CommandSpec[] = [
  {
    noun: 'agent',
    verb: 'list',
    summary: 'list agents: yours, and those of a project at its newest commit',
    options: [project],
    examples: [{ line: 'orrery agent list', does: 'with where each comes from and what it hides' }],
    operations: ['agentList', 'projectList'],
    load: async () => (await import('./list.ts')).agentList,
  },
  {
    noun: 'agent',
    verb: 'show',
    summary: 'show one agent, and what it is told',
    arguments: [{ name: 'agent', required: true, summary: 'its name, or source:name' }],
    options: [project],
    examples: [{ line: 'orrery agent show user:reviewer', does: 'your own, also where the project has one of that name' }],
    operations: ['agentShow', 'projectList'],
    load: async () => (await import('./show.ts')).agentShow,
  },
  {
    noun: 'agent',
    verb: 'new',
    summary: 'write the file of a new agent',
    detail: 'A file that is there is left alone. A project’s agents are those of its commits: commit the file to use it.',
    arguments: [{ name: 'agent', required: true, summary: 'its name' }],
    options: [{ name: 'user', kind: 'flag', summary: 'beside your configuration, instead of in the repository of this folder' }],
    examples: [
      { line: 'orrery agent new reviewer', does: 'writes .orrery/agents/reviewer.md' },
      { line: 'orrery agent new reviewer --user', does: 'yours, for every project' },
    ],
    load: async () => (await import('./new.ts')).agentNew,
  },
];
