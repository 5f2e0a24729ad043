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
  {
    noun: 'env',
    verb: 'preview',
    summary: 'look at a port of an environment in a browser',
    detail:
      'Prints a link that lets one browser in, once, at an address that no other environment has. Leads to programs of that environment and never to others.',
    arguments: [
      environment,
      {
        name: 'port',
        required: false,
        summary: 'PORT inside, or the name of one in .orrery/orrery.yaml (default: the only one)',
      },
    ],
    options: [{ name: 'open', kind: 'flag', summary: 'open the link in your browser' }],
    examples: [
      { line: 'orrery env preview fix 3000', does: 'http://env-…-3000.localhost:4748, for the browser that opens the link' },
      { line: 'orrery env preview fix web --open', does: 'the port that the project calls web' },
    ],
    operations: ['previewOpen'],
    exits: [3, 8, 10],
    load: async () => (await import('./preview.ts')).envPreview,
  },
  {
    noun: 'env',
    verb: 'shell',
    summary: 'a shell in an environment, with its walls and variables',
    detail: 'Ctrl-] leaves it running. What was printed is replayed when you come back.',
    arguments: [environment],
    options: [
      { name: 'attach', kind: 'text', value: 'TERMINAL', summary: 'one that runs already: orrery env logs ENV' },
      { name: 'take', kind: 'flag', summary: 'write in it although another viewer does' },
      { name: 'clipboard', kind: 'flag', summary: 'let its programs set the clipboard of this terminal' },
      { name: 'watch', kind: 'flag', summary: 'only look; the size stays' },
    ],
    examples: [
      { line: 'orrery env shell tsk_…', does: 'where the agent works, while it does' },
      { line: 'orrery env shell fix --attach terminal.1.run_…', does: 'the same screen again' },
    ],
    operations: ['terminalOpen', 'terminalList'],
    exits: [3, 8],
    load: async () => (await import('./shell.ts')).envShell,
  },
  {
    noun: 'env',
    verb: 'exec',
    summary: 'run a command in an environment; its output and exit code are handed on',
    arguments: [environment],
    options: [
      { name: 'no-tty', kind: 'flag', summary: 'streams apart also at a terminal' },
      { name: 'clipboard', kind: 'flag', summary: 'let it set the clipboard of this terminal' },
    ],
    tail: 'COMMAND…',
    examples: [
      { line: 'orrery env exec tsk_… -- git status', does: 'in the checkout' },
      { line: 'orrery env exec fix -- sh -c "npm test" < input.txt > output.txt', does: 'input, output and errors as they are' },
    ],
    operations: ['terminalOpen'],
    exits: [3, 8],
    load: async () => (await import('./shell.ts')).envExec,
  },
  {
    noun: 'env',
    verb: 'logs',
    summary: 'list shells and commands of an environment, or show what one printed',
    arguments: [environment, { name: 'terminal', required: false, summary: 'which one: followed to its end' }],
    examples: [{ line: 'orrery env logs fix', does: 'their ids, states and viewers' }],
    operations: ['terminalList'],
    exits: [3, 8],
    load: async () => (await import('./logs.ts')).envLogs,
  },
  {
    noun: 'env',
    verb: 'stats',
    summary: 'processes, memory and disk of an environment now',
    arguments: [environment],
    examples: [{ line: 'orrery env stats tsk_…', does: 'what everything in it uses together' }],
    operations: ['environmentStats'],
    exits: [3, 8],
    load: async () => (await import('./logs.ts')).envStats,
  },
];
