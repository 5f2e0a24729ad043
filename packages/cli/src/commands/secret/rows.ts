import type { ArgumentSpec, CommandSpec } from '../command.ts';

const name: ArgumentSpec = {
  name: 'name',
  required: true,
  summary: 'name of the secret; the configuration refers to it as secret:<name>',
};

export const secretCommands: readonly CommandSpec[] = [
  {
    noun: 'secret',
    verb: 'set',
    summary: 'store a secret, encrypted, in the data directory',
    detail: 'The value comes from standard input or is asked for without echo; it is never an argument.',
    arguments: [name],
    examples: [
      { line: 'orrery secret set anthropic < key.txt', does: 'from a file' },
      { line: 'orrery secret set anthropic', does: 'asks on the terminal' },
    ],
    load: async () => (await import('./set.ts')).secretSet,
  },
  {
    noun: 'secret',
    verb: 'list',
    summary: 'list names of secrets',
    examples: [{ line: 'orrery secret list', does: 'names only, never values' }],
    load: async () => (await import('./list.ts')).secretList,
  },
  {
    noun: 'secret',
    verb: 'remove',
    summary: 'remove a secret',
    arguments: [name],
    examples: [{ line: 'orrery secret remove anthropic', does: 'what used it fails from now on, and says so' }],
    exits: [3],
    load: async () => (await import('./remove.ts')).secretRemove,
  },
];
