// Commands of a chat. Only those that this node has are offered; an unknown one is refused, never sent as text. Pure.

import { closest } from '@orrery/protocol/errors';
import { textOf, withText } from './composer.ts';
import { isBusy, step, withHint, type ChatState, type Step } from './state.ts';
import { cutCells } from './cells.ts';

type Send = (state: ChatState, text: string, steer: boolean) => Step;
type Slash = {
  readonly name: string;
  readonly takes: string;
  readonly about: string;
  /** What can stand behind it. */
  readonly words?: readonly string[];
  readonly run: (state: ChatState, rest: string, send: Send) => Step;
};

const effect =
  (kind: 'interrupt' | 'close' | 'sessions', hint: string | null) =>
  (state: ChatState): Step =>
    step(hint === null ? state : withHint(state, hint), [{ kind }]);

const MODES = ['ask', 'edits', 'all', 'plan'] as const;

const setMode = (state: ChatState, rest: string): Step => {
  const mode = MODES.find((one) => one === rest);
  if (mode !== undefined) return step(state, [{ kind: 'set', mode }]);
  return step(withHint(state, `The mode is ${state.session.mode}. /mode ${MODES.join('|')}`));
};

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
  { name: 'mode', takes: 'MODE', about: 'what it does without asking', words: MODES, run: setMode },
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
    run: (state, rest, send) => (rest === '' ? step(withHint(state, '/steer leave the docs alone')) : send(state, rest, true)),
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
  { name: 'details', takes: '[N|all]', about: 'what was folded, whole', words: ['all'], run: details },
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
    run: (state, rest) => (rest === '' ? step(withHint(state, '/rename NAME')) : step(state, [{ kind: 'set', name: rest }])),
  },
  {
    name: 'close',
    takes: '',
    about: 'put the program to sleep; the next input wakes it',
    run: effect('close', 'The program is put to sleep; the next input wakes it.'),
  },
  { name: 'end', takes: 'now', about: 'end the session for good', words: ['now'], run: endSession },
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

const helpLines = ({ size }: ChatState): string[] => {
  const commands = COMMANDS.map(({ name, takes, about }) => [`/${name} ${takes}`.trimEnd(), about] as const);
  const rows = [...KEYS, ...commands];
  const narrow = size.columns < 60;
  const width = narrow ? 0 : Math.max(...rows.map(([name]) => name.length));
  const line = ([name, about]: readonly [string, string]): string[] =>
    narrow ? [`  ${name}`, `      ${about}`] : [`  ${name.padEnd(width)}  ${about}`];
  return ['', ...KEYS.flatMap(line), '', ...commands.flatMap(line)].map((text) => cutCells(text, size.columns));
};

export type Completion = { readonly text: string; readonly about: string };

/** What could be meant by a text that begins like a command. */
export const completionsOf = ({ composer, purpose }: ChatState): Completion[] => {
  const text = textOf(composer);
  if (purpose.kind !== 'prompt' || !text.startsWith('/') || text.includes('\n')) return [];
  const [, name = '', gap, rest = ''] = /^\/(\S*)( ?)(.*)$/.exec(text) ?? [];
  if (gap === '')
    return COMMANDS.filter((one) => one.name.startsWith(name)).map((one) => ({ text: `/${one.name}`, about: one.about }));
  const words = COMMANDS.find((one) => one.name === name)?.words ?? [];
  return words.filter((word) => word.startsWith(rest) && word !== rest).map((word) => ({ text: `/${name} ${word}`, about: '' }));
};

/** Runs the command that a text is. */
export const runSlash = (state: ChatState, text: string, send: Send): Step => {
  const [, name = '', rest = ''] = /^\/(\S*)\s*([^]*)$/.exec(text) ?? [];
  const only = completionsOf(state);
  const chosen = only[state.completion]?.text.slice(1);
  const command =
    COMMANDS.find((one) => one.name === name) ?? (only.length > 0 ? COMMANDS.find((one) => one.name === chosen) : undefined);
  if (command === undefined) {
    const guess = closest(
      name,
      COMMANDS.map((one) => one.name),
    );
    const meant = guess === null ? '/help lists them.' : `Did you mean /${guess}?`;
    return step(withHint(state, `There is no command /${cutCells(name, 30)}. ${meant} A space before it sends it as text.`));
  }
  return command.run({ ...state, composer: withText(state.composer, ''), completion: 0 }, rest.trim(), send);
};
