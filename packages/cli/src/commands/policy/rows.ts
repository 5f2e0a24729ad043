import type { CommandSpec, OptionSpec } from '../command.ts';

const project: OptionSpec = {
  name: 'project',
  kind: 'text',
  value: 'PROJECT',
  summary: 'id, name or path of a project (default: the repository of this folder)',
  completes: 'project',
};

export const policyCommands: readonly CommandSpec[] = [
  {
    noun: 'policy',
    verb: 'list',
    summary: 'list the rules that decide what agents ask: yours, and those of a project at its newest commit',
    options: [project],
    examples: [{ line: 'orrery policy list', does: 'with the file that each stands in, and files that cannot be used' }],
    operations: ['policyList', 'projectList'],
    load: async () => (await import('./list.ts')).policyList,
  },
  {
    noun: 'policy',
    verb: 'check',
    summary: 'say what is wrong with policy files; it fails when something is',
    detail: 'While a file cannot be used, nothing is allowed by a rule or by a mode: everything is asked.',
    options: [project],
    examples: [{ line: 'orrery policy check', does: 'after you changed one' }],
    operations: ['policyList', 'projectList'],
    load: async () => (await import('./check.ts')).policyCheck,
  },
  {
    noun: 'policy',
    verb: 'test',
    summary: 'say what the rules would do with something that an agent asks, and why',
    detail: 'It changes nothing and asks no agent.',
    arguments: [{ name: 'command', required: false, summary: 'a command that an agent would run' }],
    options: [
      project,
      { name: 'harness', kind: 'text', value: 'HARNESS', summary: 'the agent program that asks', completes: 'harness' },
      {
        name: 'path',
        kind: 'texts',
        value: 'PATH',
        summary: 'instead: a file that would be changed, from the root of the checkout',
      },
      { name: 'tool', kind: 'text', value: 'TOOL', summary: 'the tool, as the program calls it' },
      { name: 'interaction', kind: 'text', value: 'ID', summary: 'instead: what an agent really asked' },
    ],
    examples: [
      {
        line: 'orrery policy test make --project shop --harness claude',
        does: 'allowed, denied or asked, and by which rule',
      },
      { line: 'orrery policy test --path src/a.ts', does: 'for a change of a file' },
      { line: 'orrery policy test --interaction int_01…', does: 'why it was denied, or why it was asked' },
    ],
    operations: ['policyTest', 'projectList'],
    load: async () => (await import('./test.ts')).policyTest,
  },
  {
    noun: 'policy',
    verb: 'propose',
    summary: 'show the rule that would allow just what an agent asks now',
    detail: 'With --add a person adds it, on a terminal: the rule goes to the file, and what is asked is allowed once.',
    arguments: [{ name: 'interaction', required: true, summary: 'its id (orrery session interactions)' }],
    options: [{ name: 'add', kind: 'flag', summary: 'add it to your policy file; needs the scope owner, and asks first' }],
    examples: [
      { line: 'orrery policy propose int_01…', does: 'the rule, and the file that it would go to' },
      { line: 'orrery policy propose int_01… --add', does: 'asks, adds it, and allows once what is asked' },
    ],
    operations: ['policyPropose', 'policyAdd', 'interactionShow'],
    changes: 'plain',
    load: async () => (await import('./propose.ts')).policyPropose,
  },
];
