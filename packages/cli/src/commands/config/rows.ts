import type { CommandSpec } from '../command.ts';

export const configCommands: readonly CommandSpec[] = [
  {
    noun: 'config',
    verb: 'explain',
    summary: 'show where a value of the configuration comes from',
    arguments: [{ name: 'key', required: true, summary: 'its name, as queue.parallel' }],
    options: [{ name: 'project', kind: 'text', value: 'PROJECT', summary: 'as it is for one project', completes: 'project' }],
    examples: [{ line: 'orrery config explain execution.backend', does: 'the value, its origin and what it shadows' }],
    operations: ['configExplain'],
    load: async () => (await import('./explain.ts')).configExplain,
  },
  {
    noun: 'config',
    verb: 'list',
    summary: 'show every key of the configuration, its value and where that comes from',
    options: [
      { name: 'set', kind: 'flag', summary: 'only what is not the default' },
      { name: 'project', kind: 'text', value: 'PROJECT', summary: 'as it is for one project', completes: 'project' },
    ],
    examples: [
      { line: 'orrery config list --set', does: 'what somebody chose' },
      { line: 'orrery config list --project shop', does: 'what holds for its tasks' },
    ],
    operations: ['configList'],
    load: async () => (await import('./list.ts')).configList,
  },
  {
    noun: 'config',
    verb: 'path',
    summary: 'show where configuration and data are',
    examples: [{ line: 'orrery config path', does: 'works without a node' }],
    load: async () => (await import('./path.ts')).configPath,
  },
  {
    noun: 'config',
    verb: 'schema',
    summary: 'print the JSON Schema of the configuration',
    examples: [{ line: 'orrery config schema > orrery.schema.json', does: 'for an editor' }],
    load: async () => (await import('./schema.ts')).configSchema,
  },
];
