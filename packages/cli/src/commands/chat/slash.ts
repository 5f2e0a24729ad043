// Commands of a chat. Only those that this node has are offered; an unknown one is refused, never sent as text. Pure.

import { recordText } from '../../moments.ts';
import { closest } from '@orrery/protocol/errors';
import { textOf, withText } from './composer.ts';
import { isBusy, step, withHint, type ChatState, type How, type Step } from './state.ts';
import { cutCells, visible } from './cells.ts';

type Send = (state: ChatState, text: string, how: How) => Step;
type Slash = {
  readonly name: string;
  readonly takes: string;
  readonly about: string;
  /** What can stand behind it. */
  readonly words?: (state: ChatState) => readonly string[];
  readonly run: (state: ChatState, rest: string, send: Send) => Step;
};

const effect =
  (kind: 'interrupt' | 'close' | 'sessions', hint: string | null) =>
  (state: ChatState): Step =>
    step(hint === null ? state : withHint(state, hint), [{ kind }]);

const MODES = ['ask', 'edits', 'all', 'plan'] as const;

const setMode = (state: ChatState, rest: string): Step => {
  const mode = MODES.find((one) => one === rest);
  if (mode !== undefined) return step(state, [{ kind: 'set', set: { mode } }]);
  return step(withHint(state, `The mode is ${state.session.mode}. /mode ${MODES.join('|')}`));
};

/** Models as the program reported them. */
const modelsOf = ({ catalogue }: ChatState): readonly string[] => catalogue?.models.map(({ id }) => id) ?? [];

const effortsOf = ({ catalogue, session }: ChatState): readonly string[] => {
  const models = catalogue?.models ?? [];
  const own = models.find(({ id, model }) => id === session.model || model === session.model);
  return [...new Set((own === undefined ? models : [own]).flatMap(({ efforts }) => efforts))];
};

/** One of what a program offers; the node knows whether it takes another one. Without a word: what there is. */
const choose =
  (what: 'model' | 'effort', offered: (state: ChatState) => readonly string[]) =>
  (state: ChatState, rest: string): Step => {
    if (rest !== '') return step(state, [{ kind: 'set', set: { [what]: rest } }]);
    const { session, size } = state;
    const now = (what === 'model' ? session.effectiveModel : session.effectiveEffort) ?? session[what];
    const all = offered(state);
    const lines = [
      '',
      `  ${what === 'model' ? 'Model' : 'Effort'}: ${now === null ? "the program's own choice" : visible(now)}`,
      ...all.map((one) => `    /${what} ${visible(one)}`),
      ...(all.length === 0 ? [`    ${session.harness} has not said what it offers.`] : []),
    ];
    return step(state, [], [{ kind: 'local', lines: lines.map((line) => cutCells(line, size.columns)) }]);
  };

const diff = (state: ChatState, rest: string): Step =>
  isBusy(state)
    ? step(withHint(state, 'Its files are looked at between its turns.'))
    : step(withHint(state, 'Looking at its files.'), [{ kind: 'diff', file: rest === '' ? null : rest }]);

const rewind = (state: ChatState, rest: string): Step =>
  rest === ''
    ? step(state, [{ kind: 'moments' }])
    : step(withHint(state, 'Going back; what is there now is saved first.'), [{ kind: 'rewind', to: rest }]);

const fork = (state: ChatState, rest: string): Step =>
  step(withHint(state, recordText(state.session) ?? 'Another session parts from here; this one stays as it is.'), [
    { kind: 'fork', at: rest === '' ? null : rest },
  ]);

const details = (state: ChatState, rest: string): Step => {
  if (rest === 'all') {
    const whole = !state.whole;
    return step(withHint({ ...state, whole }, whole ? 'Nothing is folded from now on.' : 'Long output is folded from now on.'));
  }
  const item = state.transcript.folded[rest === '' ? 0 : Number(rest) - 1];
  return item === undefined
    ? step(withHint(state, '/details 2 shows the second last of what was folded, /details all folds nothing.'))
    : step(state, [], [{ kind: 'whole', item }]);
};

const endSession = (state: ChatState, rest: string): Step =>
  rest === 'now'
    ? step(state, [{ kind: 'end' }])
    : step(withHint(state, 'It cannot be woken again; its history and its environment stay. To end it: /end now'));

/** Commands, in the order of help. */
const COMMANDS: readonly Slash[] = [
  {
    name: 'help',
    takes: '',
    about: 'keys and commands',
    run: (state) => step(state, [], [{ kind: 'local', lines: helpLines(state) }]),
  },
  { name: 'mode', takes: 'MODE', about: 'what it does without asking', words: () => MODES, run: setMode },
  { name: 'model', takes: '[MODEL]', about: 'which model it works with', words: modelsOf, run: choose('model', modelsOf) },
  { name: 'effort', takes: '[LEVEL]', about: 'how much it thinks', words: effortsOf, run: choose('effort', effortsOf) },
  {
    name: 'queue',
    takes: '',
    about: 'inputs that wait: edit, take back, reorder, send now',
    run: (state) => (state.turns.length === 0 ? step(withHint(state, 'No input waits.')) : step({ ...state, focus: 'queue' })),
  },
  {
    name: 'steer',
    takes: 'TEXT',
    about: 'words into the turn that runs',
    run: (state, rest, send) =>
      rest === '' ? step(withHint(state, '/steer leave the docs alone')) : send(state, rest, { steer: true }),
  },
  {
    name: 'stop',
    takes: '',
    about: 'stop the turn that runs',
    run: (state) =>
      isBusy(state)
        ? effect('interrupt', 'The turn is being stopped; what waits stays.')({ ...state, stopping: true })
        : step(withHint(state, 'No turn runs.')),
  },
  { name: 'diff', takes: '[FILE]', about: 'what it changed so far', run: diff },
  { name: 'rewind', takes: '[TURN]', about: 'files and conversation as they were before a turn', run: rewind },
  { name: 'fork', takes: '[TURN]', about: 'go on in another session from here, or from before a turn', run: fork },
  {
    name: 'compact',
    takes: '[WORDS]',
    about: 'let it sum up what was said, and keep what you name',
    run: (state, rest, send) => send(state, rest, { steer: false, action: 'compact' }),
  },
  { name: 'details', takes: '[N|all]', about: 'what was folded, whole', words: () => ['all'], run: details },
  {
    name: 'history',
    takes: '',
    about: 'older events',
    run: (state) => step(state, [{ kind: 'older', before: state.oldest }]),
  },
  {
    name: 'search',
    takes: 'WORDS',
    about: 'find words in this session',
    run: (state, rest) =>
      rest === '' ? step(withHint(state, '/search failing test')) : step(state, [{ kind: 'search', words: rest }]),
  },
  {
    name: 'sessions',
    takes: '[NAME]',
    about: 'list sessions, or go to one',
    run: (state, rest) => (rest === '' ? effect('sessions', null)(state) : step(state, [{ kind: 'switch', session: rest }])),
  },
  {
    name: 'rename',
    takes: 'NAME',
    about: 'another name for this session',
    run: (state, rest) =>
      rest === '' ? step(withHint(state, '/rename NAME')) : step(state, [{ kind: 'set', set: { name: rest } }]),
  },
  {
    name: 'close',
    takes: '',
    about: 'put the program to sleep; the next input wakes it',
    run: effect('close', 'The program is put to sleep; the next input wakes it.'),
  },
  { name: 'end', takes: 'now', about: 'end the session for good', words: () => ['now'], run: endSession },
  { name: 'quit', takes: '', about: 'leave; the session goes on', run: (state) => step(state, [{ kind: 'leave' }]) },
];

const KEYS: readonly (readonly [string, string])[] = [
  ['Enter', 'send; while a turn runs: queue'],
  ['Alt-Enter, \\ Enter', 'a new line'],
  ['Ctrl-S', 'send into the turn that runs'],
  ['Esc', 'stop the turn that runs'],
  ['Tab', 'complete; to the question and back'],
  ['Ctrl-O, PageUp', 'what was folded; older events'],
  ['Ctrl-Q', 'inputs that wait'],
  ['Ctrl-C twice, Ctrl-D', 'leave; the session goes on'],
];

const helpLines = (state: ChatState): string[] => {
  const { size } = state;
  const commands = COMMANDS.map(({ name, takes, about }) => [`/${name} ${takes}`.trimEnd(), about] as const);
  const programs = programCommands(state).map(({ name, about }) => [`/${name}`, about] as const);
  const rows = [...KEYS, ...commands, ...programs];
  const narrow = size.columns < 60;
  const width = narrow ? 0 : Math.max(...rows.map(([name]) => name.length));
  const line = ([name, about]: readonly [string, string]): string[] =>
    narrow ? [`  ${name}`, `      ${about}`] : [`  ${name.padEnd(width)}  ${about}`];
  const theirs = programs.length === 0 ? [] : ['', `  of ${state.session.harness}:`, ...programs.flatMap(line)];
  return ['', ...KEYS.flatMap(line), '', ...commands.flatMap(line), ...theirs].map((text) => cutCells(text, size.columns));
};

export type Completion = { readonly text: string; readonly about: string };

/** Commands that its program reported, by names that can be typed. One that is called like ours is reached with two slashes. */
const programCommands = ({ catalogue }: ChatState): readonly { readonly name: string; readonly about: string }[] =>
  (catalogue?.commands ?? [])
    .filter(({ name }) => /^\S+$/.test(name) && visible(name) === name)
    .map(({ name, description }) => ({
      name: COMMANDS.some((one) => one.name === name) ? `/${name}` : name,
      about: visible(description).replace(/\s+/g, ' ').trim(),
    }));

/** What could be meant by a text that begins like a command. */
export const completionsOf = (state: ChatState): Completion[] => {
  const { composer, purpose } = state;
  const text = textOf(composer);
  if (purpose.kind !== 'prompt' || !text.startsWith('/') || text.includes('\n')) return [];
  const [, name = '', gap, rest = ''] = /^\/(\S*)( ?)(.*)$/.exec(text) ?? [];
  if (gap === '')
    return [...COMMANDS, ...programCommands(state)]
      .filter((one) => one.name.startsWith(name))
      .map((one) => ({ text: `/${one.name}`, about: one.about }));
  const words = COMMANDS.find((one) => one.name === name)?.words?.(state) ?? [];
  return words.filter((word) => word.startsWith(rest) && word !== rest).map((word) => ({ text: `/${name} ${word}`, about: '' }));
};

/** What a command does, by its name; undefined: there is none of this name. */
const runnerOf = (state: ChatState, name: string): Slash['run'] | undefined => {
  const own = COMMANDS.find((one) => one.name === name);
  if (own !== undefined || !programCommands(state).some((one) => one.name === name)) return own?.run;
  const command = name.replace(/^\//, '');
  return (now, rest, send) => send(now, rest, { steer: false, action: 'command', command });
};

/** Runs the command that a text is. */
export const runSlash = (state: ChatState, text: string, send: Send): Step => {
  const [, name = '', rest = ''] = /^\/(\S*)\s*([^]*)$/.exec(text) ?? [];
  const chosen = completionsOf(state)[state.completion]?.text.slice(1);
  const run = runnerOf(state, name) ?? (chosen === undefined ? undefined : runnerOf(state, chosen));
  if (run === undefined) {
    const names = [...COMMANDS, ...programCommands(state)].map((one) => one.name);
    const guess = closest(name, names);
    const meant = guess === null ? '/help lists them.' : `Did you mean /${guess}?`;
    return step(withHint(state, `There is no command /${cutCells(name, 30)}. ${meant} A space before it sends it as text.`));
  }
  return run({ ...state, composer: withText(state.composer, ''), completion: 0 }, rest.trim(), send);
};
