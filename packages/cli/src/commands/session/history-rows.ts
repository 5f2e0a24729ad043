import type { CommandSpec } from '../command.ts';
import { applyOptions } from '../env/apply-options.ts';
import { session } from './asked-rows.ts';

/** Its program sleeps, or it is over. */
export const closing: readonly CommandSpec[] = [
  {
    noun: 'session',
    verb: 'close',
    summary: 'put its program to sleep and hold what waits; the next input wakes it',
    arguments: [session],
    examples: [{ line: 'orrery session close site-1', does: 'a turn that runs is stopped first' }],
    operations: ['sessionClose'],
    changes: 'plain',
    load: async () => (await import('./change.ts')).sessionClose,
  },
  {
    noun: 'session',
    verb: 'resume',
    summary: 'let a session go on that was closed, or that a usage limit holds up',
    arguments: [session],
    examples: [{ line: 'orrery session resume site-1', does: 'its inputs are sent, in their order' }],
    operations: ['sessionResume'],
    changes: 'plain',
    load: async () => (await import('./change.ts')).sessionResume,
  },
  {
    noun: 'session',
    verb: 'end',
    summary: 'end a session for good; its history stays',
    arguments: [session],
    examples: [{ line: 'orrery session end site-1', does: 'its environment stays too' }],
    operations: ['sessionEnd'],
    changes: 'plain',
    load: async () => (await import('./change.ts')).sessionEnd,
  },
];

/** What is done to a session as a whole. */
export const historyCommands: readonly CommandSpec[] = [
  {
    noun: 'session',
    verb: 'apply',
    summary: 'bring what a session did into the repository',
    detail:
      'What its environment holds, as orrery env apply brings it: commits, and files that are not committed as one more. A tree with changes of your own is never touched.',
    arguments: [session],
    options: applyOptions,
    examples: [
      { line: 'orrery session apply site-1 --message "Fix the parser"', does: 'into the clean tree that is checked out' },
    ],
    operations: ['sessionShow', 'environmentApply'],
    changes: 'plain',
    load: async () => (await import('../env/apply.ts')).sessionApply,
  },
  {
    noun: 'session',
    verb: 'checkpoints',
    summary: 'list the moments that a session can go back to, newest first',
    arguments: [session],
    examples: [{ line: 'orrery session checkpoints site-1', does: 'one was made before each turn' }],
    operations: ['sessionShow', 'sessionCheckpoints'],
    load: async () => (await import('./history.ts')).sessionCheckpoints,
  },
  {
    noun: 'session',
    verb: 'checkpoint',
    summary: 'save files and conversation of a session as they are now',
    arguments: [session],
    examples: [{ line: 'orrery session checkpoint site-1', does: 'nothing in its checkout changes' }],
    operations: ['sessionCheckpoint'],
    changes: 'plain',
    load: async () => (await import('./history.ts')).sessionCheckpoint,
  },
  {
    noun: 'session',
    verb: 'rewind',
    summary: 'take files and conversation of a session back',
    detail:
      'What is there now is saved first, and named. Its program sleeps until the next input; what came after stays in the log.',
    arguments: [session],
    options: [
      {
        name: 'to',
        kind: 'text',
        value: 'TURN|CHECKPOINT',
        summary: 'the number of a turn (what was before it), or the id of a checkpoint',
      },
      { name: 'files-only', kind: 'flag', summary: 'the conversation goes on as it is' },
      { name: 'conversation-only', kind: 'flag', summary: 'the files stay as they are' },
    ],
    examples: [
      { line: 'orrery session rewind site-1 --to 3', does: 'turn 3 and what followed are undone' },
      { line: 'orrery session rewind site-1 --to 3 --files-only', does: 'the agent remembers what it did' },
    ],
    operations: ['sessionRewind'],
    changes: 'plain',
    load: async () => (await import('./history.ts')).sessionRewind,
  },
  {
    noun: 'session',
    verb: 'fork',
    summary: 'begin another session from a place in this one, with files of its own',
    detail:
      'The fork has an environment of its own with the files as they were there, and the conversation up to there. This one stays as it is and may run on. Without --at it parts behind the last turn that is over. A program that cannot go on from a place in a conversation (`fork record` in `orrery harness show NAME`) begins a new one with a record of what was said.',
    arguments: [session],
    options: [
      {
        name: 'at',
        kind: 'text',
        value: 'TURN|CHECKPOINT',
        summary: 'the number of a turn (what was before it), or the id of a checkpoint',
      },
      { name: 'title', kind: 'text', value: 'WORDS', summary: 'what the fork is about; default: as this one' },
      { name: 'name', kind: 'text', value: 'NAME', summary: 'its name; default: that of its environment' },
    ],
    examples: [
      { line: 'orrery session fork site-1 --title "with a queue instead"', does: 'both go on from here' },
      { line: 'orrery session fork site-1 --at 3', does: 'as if turn 3 had not been; site-1 keeps it' },
    ],
    operations: ['sessionFork'],
    changes: 'once',
    load: async () => (await import('./fork.ts')).sessionFork,
  },
  {
    noun: 'session',
    verb: 'hand-over',
    summary: 'let another program go on with a conversation, in the same files',
    detail:
      'It begins with a record of what was said and done; inputs that wait go along, and so does the name. The session that was handed over ends, its log stays. A budget is what is left of it.',
    arguments: [session, { name: 'prompt', required: false, summary: 'what it is told first; - reads standard input' }],
    options: [
      { name: 'harness', kind: 'text', value: 'NAME', summary: 'the program that goes on', completes: 'harness' },
      { name: 'model', kind: 'text', value: 'MODEL', summary: 'its model' },
      { name: 'effort', kind: 'text', value: 'LEVEL', summary: 'how much it thinks' },
      { name: 'mode', kind: 'text', value: 'MODE', summary: 'what it may do without asking; default: as before' },
      { name: 'name', kind: 'text', value: 'NAME', summary: 'another name; default: the one that it had' },
    ],
    examples: [
      { line: 'orrery session hand-over site-1 --harness codex', does: 'Codex waits for the next input' },
      { line: 'orrery session hand-over site-1 "go on" --harness pi', does: 'and begins at once' },
    ],
    operations: ['sessionHandOver'],
    changes: 'once',
    load: async () => (await import('./history.ts')).sessionHandOver,
  },
  {
    noun: 'session',
    verb: 'rename',
    summary: 'give a session a name',
    arguments: [session, { name: 'name', required: true, summary: 'the new name: letters, digits and . _ -' }],
    examples: [{ line: 'orrery session rename site-1 failing-test', does: 'until then it is called like its environment' }],
    operations: ['sessionSet'],
    changes: 'plain',
    load: async () => (await import('./change.ts')).sessionRename,
  },
  {
    noun: 'session',
    verb: 'delete',
    summary: 'delete a session that has ended, with everything that was said in it',
    detail:
      'It asks first. It is refused while the environment that was made for it holds work that nothing else has. The environment stays, and with it what the program wrote into its home.',
    arguments: [session],
    options: [{ name: 'yes', kind: 'flag', summary: 'do not ask' }],
    examples: [{ line: 'orrery session delete site-1', does: 'nothing of it can be read afterwards' }],
    exits: [3, 6, 8],
    operations: ['sessionShow', 'sessionDelete'],
    changes: 'plain',
    load: async () => (await import('./delete.ts')).sessionDelete,
  },
];
