import type { ArgumentSpec, CommandSpec } from '../command.ts';

const harness: ArgumentSpec = { name: 'harness', required: true, summary: 'id of a harness', completes: 'harness' };

export const harnessCommands: readonly CommandSpec[] = [
  {
    noun: 'harness',
    verb: 'list',
    summary: 'list agent programs',
    examples: [{ line: 'orrery harness list', does: 'which there are and which are installed' }],
    operations: ['harnessList'],
    load: async () => (await import('./list.ts')).harnessList,
  },
  {
    noun: 'harness',
    verb: 'show',
    summary: 'show what an agent program can do',
    arguments: [harness],
    examples: [{ line: 'orrery harness show codex', does: 'version, model, capabilities' }],
    operations: ['harnessList'],
    load: async () => (await import('./show.ts')).harnessShow,
  },
  {
    noun: 'harness',
    verb: 'models',
    summary: 'list models that an agent program reported',
    arguments: [harness],
    examples: [{ line: 'orrery harness models claude', does: 'with the efforts of each; nothing is started for it' }],
    operations: ['harnessList', 'harnessModels'],
    load: async () => (await import('./models.ts')).harnessModels,
  },
  {
    noun: 'harness',
    verb: 'install',
    summary: 'install an agent program below the data directory',
    detail: 'The version that Orrery was tested with; what you installed yourself is not touched.',
    arguments: [harness],
    examples: [{ line: 'orrery harness install claude', does: 'the pinned version' }],
    operations: ['harnessList', 'harnessInstall'],
    changes: 'once',
    load: async () => (await import('./install.ts')).harnessInstall,
  },
];
