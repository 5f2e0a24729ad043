import type { CommandSpec } from '../command.ts';

export const shellCommands: readonly CommandSpec[] = [
  {
    noun: null,
    verb: 'completion',
    summary: 'print a script that completes commands, options and ids in a shell',
    arguments: [{ name: 'shell', required: true, summary: 'bash, zsh or fish', choices: ['bash', 'zsh', 'fish'] }],
    examples: [
      { line: 'source <(orrery completion bash)', does: 'in ~/.bashrc' },
      { line: 'orrery completion fish > ~/.config/fish/completions/orrery.fish', does: 'for fish' },
    ],
    load: async () => (await import('./completion.ts')).completion,
  },
  {
    noun: null,
    verb: 'help',
    summary: 'show help, or the whole manual',
    arguments: [
      { name: 'noun', required: false, summary: 'a command or a thing', completes: 'command' },
      { name: 'verb', required: false, summary: 'a verb of that thing' },
    ],
    options: [
      { name: 'man', kind: 'flag', summary: 'the manual as a man page' },
      { name: 'markdown', kind: 'flag', summary: 'the manual as Markdown' },
    ],
    examples: [
      { line: 'orrery help task apply', does: 'of one command' },
      { line: 'orrery help --man | man -l -', does: 'the manual' },
    ],
    load: async () => (await import('./help.ts')).help,
  },
  {
    noun: null,
    verb: 'version',
    summary: 'print the version',
    examples: [{ line: 'orrery version', does: 'of the command line' }],
    load: async () => (await import('./version.ts')).versionCommand,
  },
  {
    noun: null,
    verb: '__complete',
    summary: 'answer a shell what may come next',
    hidden: true,
    tail: 'WORD…',
    examples: [{ line: 'orrery __complete -- task sh', does: 'asked by the completion scripts' }],
    load: async () => (await import('./complete.ts')).complete,
  },
];
