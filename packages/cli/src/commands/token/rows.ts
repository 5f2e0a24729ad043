import type { CommandSpec } from '../command.ts';

export const tokenCommands: readonly CommandSpec[] = [
  {
    noun: 'token',
    verb: 'list',
    summary: 'list API tokens',
    examples: [{ line: 'orrery token list', does: 'names and scopes; never the tokens' }],
    operations: ['tokenList'],
    load: async () => (await import('./list.ts')).tokenList,
  },
  {
    noun: 'token',
    verb: 'create',
    summary: 'make an API token; it is shown once',
    arguments: [{ name: 'name', required: true, summary: 'what it is for' }],
    options: [
      {
        name: 'scope',
        kind: 'text',
        value: 'SCOPE',
        summary: 'what it may do (default: viewer)',
        choices: ['viewer', 'operator', 'owner'],
      },
      { name: 'expires', kind: 'duration', value: 'TIME', summary: 'how long it lasts (default: until it is removed)' },
      {
        name: 'output',
        kind: 'text',
        value: 'FILE',
        summary: 'write it to a new file that only you can read, instead of printing it',
        completes: 'file',
      },
    ],
    examples: [
      { line: 'orrery token create ci --scope operator --expires 90d --output ci.token', does: 'into a file' },
      { line: 'orrery token create dashboard', does: 'one that only looks' },
    ],
    operations: ['tokenCreate'],
    changes: 'plain',
    load: async () => (await import('./create.ts')).tokenCreate,
  },
  {
    noun: 'token',
    verb: 'remove',
    summary: 'revoke an API token',
    arguments: [{ name: 'token', required: true, summary: 'id or name of a token', completes: 'token' }],
    examples: [{ line: 'orrery token remove ci', does: 'it is refused from now on' }],
    operations: ['tokenList', 'tokenRemove'],
    changes: 'plain',
    load: async () => (await import('./remove.ts')).tokenRemove,
  },
];
