import type { ArgumentSpec, CommandSpec } from '../command.ts';

const environment: ArgumentSpec = {
  name: 'environment',
  required: true,
  summary: 'id or name of an open environment, or its task',
  completes: 'environment',
};

/** Commands that go into an open environment. */
export const insideCommands: readonly CommandSpec[] = [
  {
    noun: 'env',
    verb: 'forward',
    summary: 'reach a port of an environment from this machine',
    detail: 'Listens on 127.0.0.1 until Ctrl-C. Leads to programs of that environment and never to others.',
    arguments: [environment, { name: 'port', required: true, summary: 'PORT inside, or PORT:LOCAL' }],
    examples: [
      { line: 'orrery env forward tsk_… 3000', does: 'http://127.0.0.1:3000 here is port 3000 inside' },
      { line: 'orrery env forward tsk_… 3000:8080', does: 'port 8080 here; 3000:0 takes any that is free' },
    ],
    follows: true,
    exits: [3, 8],
    load: async () => (await import('./forward.ts')).envForward,
  },
];
