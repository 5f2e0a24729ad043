import type { CommandSpec } from '../command.ts';

/** `orrery chat`. */
export const chatCommands: readonly CommandSpec[] = [
  {
    noun: null,
    verb: 'chat',
    summary: 'talk with an agent in this terminal',
    detail:
      'Without a name it goes on with the last session of this project, or begins one. Leaving it changes nothing: the session goes on.',
    arguments: [
      {
        name: 'session',
        required: false,
        summary: 'id of a session, the beginning of one, or its name',
        completes: 'session',
      },
    ],
    options: [
      { name: 'new', kind: 'flag', summary: 'begin a session, though there is one' },
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
        summary: 'a new session in this environment, which is there already',
        completes: 'environment',
      },
      { name: 'name', kind: 'text', value: 'NAME', summary: 'a new session of this name' },
      { name: 'harness', kind: 'text', value: 'HARNESS', summary: 'a new session with this agent program', completes: 'harness' },
      { name: 'model', kind: 'text', value: 'MODEL', summary: 'a new session with this model' },
      { name: 'effort', kind: 'text', value: 'EFFORT', summary: 'a new session in which the model thinks so hard' },
      {
        name: 'mode',
        kind: 'text',
        value: 'MODE',
        summary: 'a new session that does this without asking: ask (nothing that changes something), edits, all, or only plan',
        choices: ['ask', 'edits', 'all', 'plan'],
      },
      {
        name: 'backend',
        kind: 'text',
        value: 'BACKEND',
        summary: 'where the environment of a new session runs',
        completes: 'backend',
      },
      { name: 'base', kind: 'text', value: 'REF', summary: 'branch, tag or commit at which a new session begins' },
    ],
    examples: [
      { line: 'orrery chat', does: 'in a repository: goes on where you were, or begins' },
      { line: 'orrery chat site-1', does: 'with this session' },
      { line: 'orrery chat --new --harness pi --mode all', does: 'another session, with another program' },
    ],
    exits: [130, 143],
    operations: [
      'sessionCreate',
      'sessionList',
      'sessionShow',
      'sessionSet',
      'sessionLog',
      'sessionInterrupt',
      'sessionClose',
      'sessionEnd',
      'turnList',
      'turnAdd',
      'turnSet',
      'turnRemove',
      'turnDecide',
      'interactionList',
      'interactionShow',
      'interactionAnswer',
      'projectList',
      'projectAdd',
    ],
    changes: 'many',
    load: async () => (await import('./chat.ts')).chat,
  },
];
