import type { CommandSpec } from '../command.ts';

export const mcpCommands: readonly CommandSpec[] = [
  {
    noun: null,
    verb: 'mcp',
    summary: 'attach your own agent program to the node (Model Context Protocol)',
    detail:
      'Your program starts it and speaks with it over standard input and output. It gets a session as its identity and tools to hand work to other agents; the session ends with the program.',
    options: [
      { name: 'attach', kind: 'flag', summary: 'as a session of its own' },
      {
        name: 'harness',
        kind: 'text',
        value: 'HARNESS',
        summary: 'which program it is, for the lists',
        completes: 'harness',
      },
      {
        name: 'agent',
        kind: 'text',
        value: 'AGENT',
        summary: 'which agent of yours it is, by name or source:name (orrery agent list)',
      },
      { name: 'name', kind: 'text', value: 'NAME', summary: 'name of the session (default: of the harness and its id)' },
    ],
    examples: [
      { line: 'orrery mcp --attach', does: 'what the settings of your program name as an MCP server' },
      { line: 'orrery mcp --attach --harness claude --agent reviewer', does: 'which says what it is' },
    ],
    operations: [
      'attachedBegin',
      'attachedBeat',
      'attachedEnd',
      'projectList',
      'taskAdd',
      'taskList',
      'taskShow',
      'taskDiff',
      'taskCancel',
    ],
    load: async () => (await import('./mcp.ts')).mcp,
  },
];
