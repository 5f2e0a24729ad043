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
  {
    noun: 'harness',
    verb: 'login',
    summary: 'log in to the account of an agent program',
    detail:
      'A subscription pays the calls of that program in place of a key. The node keeps the login and puts it on outside of the sandbox; no agent sees it.',
    arguments: [harness],
    options: [{ name: 'no-wait', kind: 'flag', summary: 'end when the address and the code are shown' }],
    examples: [
      { line: 'orrery harness login codex', does: 'by a code that you type on any device' },
      { line: 'orrery harness login claude < token.txt', does: 'with the token that its program printed' },
    ],
    operations: ['harnessList', 'harnessLoginShow', 'harnessLogin'],
    changes: 'once',
    load: async () => (await import('./login.ts')).harnessLogin,
  },
  {
    noun: 'harness',
    verb: 'logout',
    summary: 'forget the login of an agent program',
    arguments: [harness],
    examples: [{ line: 'orrery harness logout codex', does: 'its calls are paid by a key again' }],
    operations: ['harnessList', 'harnessLogout'],
    changes: 'once',
    load: async () => (await import('./login.ts')).harnessLogout,
  },
];
