import type { ArgumentSpec, CommandSpec, OptionSpec } from '../command.ts';
import { askedCommands, session } from './asked-rows.ts';
import { closing, historyCommands } from './history-rows.ts';
import { contentCommands } from './content-rows.ts';

const turn: ArgumentSpec = { name: 'input', required: true, summary: 'id of an input (orrery session queue)' };

const mode: OptionSpec = {
  name: 'mode',
  kind: 'text',
  value: 'MODE',
  summary: 'what the agent does without asking: ask (nothing that changes something), edits, all, or only plan',
  choices: ['ask', 'edits', 'all', 'plan'],
};
const unattended: OptionSpec = {
  name: 'unattended',
  kind: 'text',
  value: 'RULE',
  summary:
    'what becomes of what it asks when nobody is there: wait (for a person), decline (and go on), fail (what needs a permission)',
  choices: ['wait', 'decline', 'fail'],
};
const budgets: readonly OptionSpec[] = [
  { name: 'budget', kind: 'usd', value: 'USD', summary: 'most that its model calls may cost' },
  { name: 'max-turns', kind: 'number', value: 'N', summary: 'most turns; then what waits is kept' },
];

const noWait: OptionSpec = { name: 'no-wait', kind: 'flag', summary: 'end when it is queued, without watching' };
const timeout: OptionSpec = {
  name: 'timeout',
  kind: 'duration',
  value: 'TIME',
  summary: 'longest watching; the session goes on',
};

/** How watching a turn may end. */
const watched: CommandSpec['exits'] = [5, 6, 7, 8, 10, 130, 143];

export const sessionCommands: readonly CommandSpec[] = [
  {
    noun: 'session',
    verb: 'start',
    summary: 'begin a conversation with an agent',
    detail: 'It lives in an environment of its own, and goes on when this command ends.',
    arguments: [{ name: 'prompt', required: false, summary: 'what to begin with; - reads it from standard input' }],
    options: [
      {
        name: 'project',
        kind: 'text',
        value: 'PROJECT',
        summary: 'id, name or path of a project (default: the repository of this folder)',
        completes: 'project',
      },
      {
        name: 'env',
        kind: 'text',
        value: 'ENV',
        summary: 'in this environment, which is there already',
        completes: 'environment',
      },
      { name: 'name', kind: 'text', value: 'NAME', summary: 'what it is called (default: its environment’s name)' },
      { name: 'agent', kind: 'text', value: 'AGENT', summary: 'an agent by name or source:name (orrery agent list)' },
      { name: 'harness', kind: 'text', value: 'HARNESS', summary: 'agent program', completes: 'harness' },
      { name: 'model', kind: 'text', value: 'MODEL', summary: 'model' },
      { name: 'effort', kind: 'text', value: 'EFFORT', summary: 'how hard the model thinks' },
      mode,
      unattended,
      { name: 'backend', kind: 'text', value: 'BACKEND', summary: 'where its environment runs', completes: 'backend' },
      {
        name: 'image',
        kind: 'text',
        value: 'IMAGE',
        summary: 'image to make its environment from, one that the operator allows (docker, kubernetes)',
      },
      { name: 'base', kind: 'text', value: 'REF', summary: 'branch, tag or commit to begin at' },
      ...budgets,
      noWait,
      timeout,
    ],
    examples: [
      {
        line: 'orrery session start "look at the failing test"',
        does: 'in the repository of this folder; asks before it changes something',
      },
      { line: 'orrery session start --env site-1 --mode edits', does: 'in an environment that is there' },
    ],
    exits: watched,
    operations: ['sessionCreate', 'sessionShow', 'sessionLog', 'turnList', 'projectList', 'projectAdd'],
    changes: 'once',
    load: async () => (await import('./start.ts')).sessionStart,
  },
  {
    noun: 'session',
    verb: 'send',
    summary: 'say something in a session and watch the answer',
    arguments: [session, { name: 'prompt', required: false, summary: 'what to say; - reads it from standard input' }],
    options: [
      { name: 'steer', kind: 'flag', summary: 'into the turn that runs, instead of after it' },
      { name: 'attach', kind: 'list', value: 'FILE', summary: 'this file goes with it; may be given again', completes: 'file' },
      { name: 'command', kind: 'text', value: 'NAME', summary: 'a command of the program (orrery session commands)' },
      noWait,
      timeout,
    ],
    examples: [
      { line: 'orrery session send site-1 "now the other test"', does: 'after what it does now' },
      { line: 'orrery session send site-1 "what is this?" --attach shot.png', does: 'with an image' },
      { line: 'orrery session send site-1 --steer "leave the docs alone"', does: 'while it works' },
    ],
    exits: watched,
    operations: ['turnAdd', 'turnList', 'sessionShow', 'sessionLog', 'attachmentAdd'],
    changes: 'once',
    load: async () => (await import('./send.ts')).sessionSend,
  },
  ...contentCommands({ session, options: [noWait, timeout], exits: watched }),
  {
    noun: 'session',
    verb: 'list',
    summary: 'list sessions, newest first',
    options: [{ name: 'limit', kind: 'number', value: 'N', summary: 'at most so many (default: 20)' }],
    examples: [{ line: 'orrery session list', does: 'with what each does now' }],
    operations: ['sessionList'],
    load: async () => (await import('./list.ts')).sessionList,
  },
  {
    noun: 'session',
    verb: 'show',
    summary: 'show one session',
    arguments: [session],
    examples: [{ line: 'orrery session show site-1', does: 'state, harness, environment, mode' }],
    operations: ['sessionShow', 'harnessList'],
    load: async () => (await import('./show.ts')).sessionShow,
  },
  {
    noun: 'session',
    verb: 'log',
    summary: 'print what was said in a session',
    arguments: [session],
    options: [
      { name: 'follow', kind: 'flag', summary: 'go on until Ctrl-C' },
      { name: 'after', kind: 'number', value: 'N', summary: 'begin after that event of the session' },
    ],
    examples: [
      { line: 'orrery session log site-1', does: 'the whole conversation' },
      { line: 'orrery session log site-1 --follow --jsonl', does: 'every event as it comes, one a line' },
    ],
    exits: [130, 143],
    operations: ['sessionShow', 'sessionLog'],
    follows: true,
    load: async () => (await import('./log.ts')).sessionLog,
  },
  {
    noun: 'session',
    verb: 'detail',
    summary: 'print a text that is too large for its event',
    arguments: [session, { name: 'locator', required: true, summary: 'what its event names (orrery session log --json)' }],
    options: [{ name: 'offset', kind: 'number', value: 'N', summary: 'begin after so many bytes' }],
    examples: [{ line: 'orrery session detail site-1 5feceb66…', does: 'the whole, as far as it is kept' }],
    operations: ['sessionDetail'],
    load: async () => (await import('./detail.ts')).sessionDetail,
  },
  {
    noun: 'session',
    verb: 'search',
    summary: 'find words in all sessions, newest first',
    detail: 'It finds what people and agents said and what tools were told, not what tools printed.',
    arguments: [
      { name: 'words', required: true, summary: 'all of these words; "in quotes" they stand together, word* is a beginning' },
    ],
    options: [
      { name: 'project', kind: 'text', value: 'PROJECT', summary: 'only in this project', completes: 'project' },
      { name: 'session', kind: 'text', value: 'SESSION', summary: 'only in this session' },
      { name: 'limit', kind: 'number', value: 'N', summary: 'at most so many (default: 20)' },
      { name: 'cursor', kind: 'text', value: 'CURSOR', summary: 'go on behind a page before' },
    ],
    examples: [
      { line: 'orrery session search "failing test"', does: 'both words, in any order' },
      { line: 'orrery session search "pars*" --session site-1', does: 'parse, parser, parsing in one session' },
    ],
    operations: ['sessionSearch'],
    load: async () => (await import('./search.ts')).sessionSearch,
  },
  {
    noun: 'session',
    verb: 'stop',
    summary: 'stop the turn that runs; what waits stays',
    arguments: [session],
    examples: [{ line: 'orrery session stop site-1', does: 'the program stays awake' }],
    operations: ['sessionInterrupt'],
    changes: 'plain',
    load: async () => (await import('./change.ts')).sessionStop,
  },
  ...closing,
  {
    noun: 'session',
    verb: 'set',
    summary: 'rename a session, or change its mode, model, effort or budget, and what becomes of what it asks',
    arguments: [session],
    options: [
      { name: 'name', kind: 'text', value: 'NAME', summary: 'its new name' },
      mode,
      unattended,
      { name: 'model', kind: 'text', value: 'MODEL', summary: 'its model, from the next turn on (orrery harness models)' },
      { name: 'effort', kind: 'text', value: 'EFFORT', summary: 'how hard the model thinks, from the next turn on' },
      ...budgets,
    ],
    examples: [{ line: 'orrery session set site-1 --mode edits', does: 'from now on, also in the turn that runs' }],
    operations: ['sessionSet'],
    changes: 'plain',
    load: async () => (await import('./change.ts')).sessionSet,
  },
  ...historyCommands,
  {
    noun: 'session',
    verb: 'queue',
    summary: 'list the inputs of a session: those that wait, then the newest of the others',
    arguments: [session],
    examples: [{ line: 'orrery session queue site-1', does: 'in the order in which they are sent' }],
    operations: ['turnList'],
    load: async () => (await import('./queue.ts')).sessionQueue,
  },
  {
    noun: 'session',
    verb: 'edit',
    summary: 'change an input that waits, or its place',
    arguments: [session, turn],
    options: [
      { name: 'text', kind: 'text', value: 'TEXT', summary: 'what it says instead' },
      { name: 'position', kind: 'number', value: 'N', summary: 'its place among those that wait, from 0' },
    ],
    examples: [{ line: 'orrery session edit site-1 trn_01… --position 0', does: 'it is sent next' }],
    operations: ['turnSet'],
    changes: 'plain',
    load: async () => (await import('./queue.ts')).sessionEdit,
  },
  {
    noun: 'session',
    verb: 'send-now',
    summary: 'send an input that waits before all others, also while a turn runs',
    detail:
      'It goes into the turn that runs where the program takes words there; else that turn is stopped, and this input is next.',
    arguments: [session, turn],
    examples: [{ line: 'orrery session send-now site-1 trn_01…', does: 'what waits behind it stays' }],
    operations: ['turnSendNow'],
    changes: 'plain',
    load: async () => (await import('./queue.ts')).sessionSendNow,
  },
  {
    noun: 'session',
    verb: 'remove',
    summary: 'take back an input that waits',
    arguments: [session, turn],
    examples: [{ line: 'orrery session remove site-1 trn_01…', does: 'it is never sent' }],
    operations: ['turnRemove'],
    changes: 'plain',
    load: async () => (await import('./queue.ts')).sessionRemove,
  },
  {
    noun: 'session',
    verb: 'decide',
    summary: 'retry or discard an input of which nobody knows whether it arrived',
    arguments: [
      session,
      turn,
      { name: 'decision', required: true, summary: 'what becomes of it', choices: ['retry', 'discard'] },
    ],
    examples: [
      { line: 'orrery session decide site-1 trn_01… retry', does: 'it is sent again; the agent may have had it already' },
    ],
    operations: ['turnDecide'],
    changes: 'plain',
    load: async () => (await import('./queue.ts')).sessionDecide,
  },
  ...askedCommands,
];
