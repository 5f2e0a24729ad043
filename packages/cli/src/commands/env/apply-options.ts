import type { OptionSpec } from '../command.ts';

/** Options of the verbs that bring what an environment holds into the repository. */
export const applyOptions: readonly OptionSpec[] = [
  {
    name: 'mode',
    kind: 'text',
    value: 'MODE',
    summary: 'tree also updates a clean checked-out tree, branch only writes a branch (default: tree)',
    choices: ['tree', 'branch'],
  },
  { name: 'branch', kind: 'text', value: 'NAME', summary: 'name of the branch (default: that of the environment)' },
  { name: 'message', kind: 'text', value: 'TEXT', summary: 'message of the commit for files that the agent did not commit' },
];
