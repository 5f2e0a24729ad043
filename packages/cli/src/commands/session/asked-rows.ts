import type { ArgumentSpec, CommandSpec } from '../command.ts';

export const session: ArgumentSpec = {
  name: 'session',
  required: true,
  summary: 'id of a session, the beginning of one, or its name',
  completes: 'session',
};

/** What an agent asks, and how it is answered. */
export const askedCommands: readonly CommandSpec[] = [
  {
    noun: 'session',
    verb: 'interactions',
    summary: 'list what waits for a person',
    arguments: [{ ...session, required: false, summary: 'only of this session' }],
    examples: [{ line: 'orrery session interactions', does: 'questions and approvals of all sessions, oldest first' }],
    operations: ['interactionList'],
    load: async () => (await import('./interactions.ts')).sessionInteractions,
  },
  {
    noun: 'session',
    verb: 'answer',
    summary: 'answer what waits for a person',
    detail: 'Without an answer it asks for one on a terminal, question by question.',
    arguments: [
      { name: 'interaction', required: true, summary: 'its id (orrery session interactions)' },
      {
        name: 'answer',
        required: false,
        summary: 'for what needs a permission, and for plans',
        choices: ['approve', 'approve-for-session', 'deny'],
      },
    ],
    options: [
      {
        name: 'answer',
        kind: 'texts',
        value: 'KEY=VALUE',
        summary: 'the answer to one question; once for each question, and for each choice of several',
      },
      { name: 'message', kind: 'text', value: 'TEXT', summary: 'words for the agent: why not' },
      {
        name: 'mode',
        kind: 'text',
        value: 'MODE',
        summary: 'with a plan that is approved, the mode to go on in (default: ask)',
        choices: ['ask', 'edits', 'all'],
      },
      { name: 'revision', kind: 'number', value: 'N', summary: 'only if it is still this revision (default: what it is now)' },
    ],
    examples: [
      { line: 'orrery session answer int_01…', does: 'asks on the terminal' },
      { line: 'orrery session answer int_01… deny --message "use make test"', does: 'the agent is told why' },
      { line: 'orrery session answer int_01… --answer q1=Blue --answer q2=12', does: 'two questions at once' },
      { line: 'orrery session answer int_01… approve --mode edits', does: 'a plan: it begins, and changes files without asking' },
    ],
    operations: ['interactionShow', 'interactionAnswer'],
    changes: 'plain',
    load: async () => (await import('./answer.ts')).sessionAnswer,
  },
];
