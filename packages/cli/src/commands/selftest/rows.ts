import type { CommandSpec, OptionSpec } from '../command.ts';

const backend: OptionSpec = { name: 'backend', kind: 'text', value: 'BACKEND', summary: 'only that one', completes: 'backend' };

export const selftestCommands: readonly CommandSpec[] = [
  {
    noun: 'selftest',
    verb: 'sandbox',
    summary: 'try on this machine what the sandbox denies and allows',
    detail: 'Runs real probes; ends with 10 when a required guarantee is missing.',
    options: [backend],
    examples: [{ line: 'orrery selftest sandbox', does: 'each guarantee, tried' }],
    exits: [10],
    load: async () => (await import('./sandbox.ts')).selftestSandbox,
  },
  {
    noun: 'selftest',
    verb: 'leaks',
    summary: 'plant secrets on this machine and look for them from inside',
    detail:
      'Plants canaries where secrets of the node are and looks for them, encoded forms too, in everything that an agent can reach. Ends with 10 when one is found.',
    options: [backend],
    examples: [{ line: 'orrery selftest leaks', does: 'on each backend that works here' }],
    exits: [10],
    load: async () => (await import('./leaks.ts')).selftestLeaks,
  },
];
