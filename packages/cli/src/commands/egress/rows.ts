import type { ArgumentSpec, CommandSpec } from '../command.ts';

const subject: ArgumentSpec = {
  name: 'environment',
  required: true,
  summary: 'id or name of an open environment, or its task',
  completes: 'environment',
};
const host: ArgumentSpec = { name: 'host', required: true, summary: 'HOST, *.HOST or an address, with :PORT or without' };

export const egressCommands: readonly CommandSpec[] = [
  {
    noun: 'egress',
    verb: 'list',
    summary: 'show what an environment may reach, and what it asked for',
    arguments: [subject],
    examples: [{ line: 'orrery egress list tsk_…', does: 'rules, hosts, bytes both ways, refusals' }],
    operations: ['egressShow'],
    exits: [3, 8],
    load: async () => (await import('./list.ts')).egressList,
  },
  {
    noun: 'egress',
    verb: 'allow',
    summary: 'let an environment reach a host, from now on',
    detail: 'Holds for that environment until it ends; the configuration of the node can still deny the host.',
    arguments: [subject, host],
    examples: [{ line: 'orrery egress allow tsk_… registry.npmjs.org', does: 'ports 80 and 443 of it' }],
    operations: ['egressAllow'],
    changes: 'plain',
    exits: [3, 8, 10],
    load: async () => (await import('./change.ts')).egressAllow,
  },
  {
    noun: 'egress',
    verb: 'deny',
    summary: 'deny a host to an environment and end its connections there',
    arguments: [subject, host],
    examples: [{ line: 'orrery egress deny tsk_… "*.example.com"', does: 'beats every rule that allows it' }],
    operations: ['egressDeny'],
    changes: 'plain',
    exits: [3, 8, 10],
    load: async () => (await import('./change.ts')).egressDeny,
  },
];
