import type { CommandSpec } from '../command.ts';

export const acpCommands: readonly CommandSpec[] = [
  {
    noun: null,
    verb: 'acp',
    summary: 'be the agent of an editor (Agent Client Protocol)',
    detail:
      'An editor starts it and speaks with it over standard input and output. Each thread of the editor is a session of the node, which goes on when the editor goes away.',
    options: [
      {
        name: 'agent',
        kind: 'text',
        value: 'AGENT',
        summary: 'agent of new sessions, by name or source:name (orrery agent list)',
      },
      { name: 'harness', kind: 'text', value: 'HARNESS', summary: 'agent program of new sessions', completes: 'harness' },
      { name: 'model', kind: 'text', value: 'MODEL', summary: 'model of new sessions' },
      { name: 'effort', kind: 'text', value: 'EFFORT', summary: 'how hard the model thinks' },
      {
        name: 'mode',
        kind: 'text',
        value: 'MODE',
        summary: 'what the agent does without asking: ask (nothing that changes something), edits, all, or only plan',
        choices: ['ask', 'edits', 'all', 'plan'],
      },
      {
        name: 'backend',
        kind: 'text',
        value: 'BACKEND',
        summary: 'where environments of new sessions run',
        completes: 'backend',
      },
      {
        name: 'image',
        kind: 'text',
        value: 'IMAGE',
        summary: 'image of environments of new sessions, one that the operator allows',
      },
      { name: 'no-start', kind: 'flag', summary: 'refuse when no node is running, instead of starting one' },
    ],
    examples: [
      { line: 'orrery acp', does: 'what the settings of an editor name as its agent' },
      { line: 'orrery acp --harness pi --mode all', does: 'with another program, which asks nothing' },
    ],
    operations: [
      'sessionCreate',
      'sessionShow',
      'sessionList',
      'sessionSet',
      'sessionLog',
      'sessionInterrupt',
      'turnAdd',
      'turnList',
      'turnRemove',
      'interactionList',
      'interactionAnswer',
    ],
    load: async () => (await import('./acp.ts')).acp,
  },
];
