// Reads a command line against the command table: which row it means, then its options and arguments.
import { Command as Parser, CommanderError, Option } from 'commander';
import { closest, OrreryError } from '@orrery/protocol/errors';
import type { ArgumentSpec, CommandInput, CommandSpec, Mode, OptionSpec } from './commands/command.ts';
import { readValue } from './option-value.ts';

/** Options of every command. */
export const commonOptions: readonly OptionSpec[] = [
  { name: 'json', kind: 'flag', summary: 'print one JSON envelope' },
  {
    name: 'connection',
    kind: 'text',
    value: 'URL',
    summary: 'the node to talk to (default: $ORRERY_URL, then the node of the data directory)',
  },
  {
    name: 'token-file',
    kind: 'text',
    value: 'FILE',
    summary: 'file that holds the token (default: $ORRERY_TOKEN_FILE)',
    completes: 'file',
  },
  { name: 'data', kind: 'text', value: 'FOLDER', summary: 'data directory (default: $ORRERY_DATA)', completes: 'folder' },
  { name: 'config', kind: 'text', value: 'FILE', summary: 'configuration file (default: $ORRERY_CONFIG)', completes: 'file' },
  { name: 'no-color', kind: 'flag', summary: 'no colours' },
  { name: 'help', kind: 'flag', summary: 'show help' },
];

const jsonLines: OptionSpec = { name: 'jsonl', kind: 'flag', summary: 'print one JSON object a line while it goes on' };
const requestId: OptionSpec = {
  name: 'request-id',
  kind: 'text',
  value: 'ID',
  summary: 'the same id with the same intent is done once',
};

/** Every option of a row, its own first. */
export const optionsOf = (spec: CommandSpec): readonly OptionSpec[] => [
  ...(spec.options ?? []),
  ...(spec.changes === 'once' ? [requestId] : []),
  ...(spec.follows === true ? [jsonLines] : []),
  ...commonOptions,
];

/** `task add`, or `run`. */
export const nameOf = (spec: Pick<CommandSpec, 'noun' | 'verb'>): string =>
  spec.noun === null ? spec.verb : `${spec.noun} ${spec.verb}`;

/** What a command line means. */
export type Meaning =
  | { readonly kind: 'help'; readonly noun: string | null; readonly spec: CommandSpec | null }
  | {
      readonly kind: 'command';
      readonly spec: CommandSpec;
      readonly words: readonly string[];
      readonly tail: readonly string[];
      readonly hasTail: boolean;
    };

/** Whether JSON was asked for: known before anything is parsed, so that a parse failure is JSON too. */
export const modeOf = (argv: readonly string[]): Mode => {
  const end = argv.indexOf('--');
  const head = end === -1 ? argv : argv.slice(0, end);
  if (head.includes('--jsonl')) return 'jsonl';
  return head.includes('--json') ? 'json' : 'human';
};

/** Finds the row. Throws `unknown_command` with the nearest name. */
export const meaningOf = (argv: readonly string[], table: readonly CommandSpec[]): Meaning => {
  const end = argv.indexOf('--');
  const head = end === -1 ? argv : argv.slice(0, end);
  const tail = end === -1 ? [] : argv.slice(end + 1);
  const wantsHelp = head.includes('--help') || head.includes('-h');
  const first = nextWord(head, 0);
  if (first === -1) return { kind: 'help', noun: null, spec: null };
  const word = head[first] ?? '';
  const direct = table.find((spec) => spec.noun === null && spec.verb === word);
  if (direct !== undefined)
    return wantsHelp
      ? { kind: 'help', noun: null, spec: direct }
      : { kind: 'command', spec: direct, words: without(head, [first]), tail, hasTail: end !== -1 };
  if (!table.some((spec) => spec.noun === word))
    throw unknownWord(word, [...new Set(table.filter(isShown).map((spec) => spec.noun ?? spec.verb))], '');
  const second = nextWord(head, first + 1);
  if (second === -1) return { kind: 'help', noun: word, spec: null };
  const spec = table.find((row) => row.noun === word && row.verb === head[second]);
  if (spec === undefined)
    throw unknownWord(
      head[second] ?? '',
      table.filter((row) => row.noun === word).map((row) => row.verb),
      `${word} `,
    );
  return wantsHelp
    ? { kind: 'help', noun: word, spec }
    : { kind: 'command', spec, words: without(head, [first, second]), tail, hasTail: end !== -1 };
};

const isShown = (spec: CommandSpec): boolean => spec.hidden !== true;
const without = (words: readonly string[], places: readonly number[]): string[] =>
  words.filter((_, place) => !places.includes(place));

/** The place of the next word that is neither a common option nor its value; -1: none. */
const nextWord = (words: readonly string[], from: number): number => {
  for (let place = from; place < words.length; place++) {
    const word = words[place] ?? '';
    if (!word.startsWith('-') || word === '-') return place;
    const option = commonOptions.find(({ name }) => word === `--${name}`);
    if (option !== undefined && option.kind !== 'flag') place++;
    if (option === undefined && !word.includes('=') && !['-h', '--jsonl'].includes(word))
      throw unknownOption(word, commonOptions, '');
  }
  return -1;
};

/** A word is repeated only when it looks like a command: what was typed by mistake may be a secret. */
const unknownWord = (word: string, known: readonly string[], before: string): OrreryError => {
  const guess = closest(word, known);
  const named = /^[a-z][a-z-]{0,19}$/.test(word) ? ` "${word}"` : '';
  if (before === '' && word.includes(' '))
    return new OrreryError('unknown_command', 'A prompt is no command.', {
      rule: 'A prompt is given to run.',
      fix: 'orrery run "fix the failing test"',
    });
  return new OrreryError(
    'unknown_command',
    `There is no ${named === '' ? 'such command' : `command${named}`}${before === '' ? '' : ` of ${before.trim()}`}.`,
    {
      rule: guess === null ? `There are: ${known.join(', ')}.` : `Did you mean "${guess}"?`,
      fix: guess === null ? `orrery ${before}--help` : `orrery ${before}${guess} --help`,
    },
  );
};

const unknownOption = (typed: string, known: readonly OptionSpec[], command: string): OrreryError => {
  const flag = typed.split('=')[0] ?? '';
  const guess = closest(
    flag,
    known.map(({ name }) => `--${name}`),
  );
  const named = /^--?[a-z][a-z-]{0,29}$/.test(flag) ? ` ${flag}` : '';
  return new OrreryError('unknown_option', `There is no option${named}.`, {
    rule: guess === null ? 'Options are listed in the help of each command.' : `Did you mean ${guess}?`,
    fix: `orrery ${command === '' ? '' : `${command} `}--help`,
  });
};

/** Reads options and arguments of a row. Every failure is of the code `invalid_input` or `unknown_option` and shows no value. */
export const readInput = (meaning: Meaning & { kind: 'command' }): CommandInput => {
  const { spec, words, tail, hasTail } = meaning;
  const name = nameOf(spec);
  if (hasTail && spec.tail === undefined)
    throw new OrreryError('invalid_input', `Nothing may follow -- in: orrery ${name}.`, {
      rule: 'Only a command to be run comes after --.',
      fix: `orrery ${name} --help`,
    });
  const options = optionsOf(spec);
  const parser = parserOf(spec, options);
  try {
    parser.parse([...words], { from: 'user' });
    return inputOf({ spec, options, parser, tail });
  } catch (thrown) {
    if (thrown instanceof CommanderError) throw parseFailure(thrown, { spec, options, given: parser.args.length });
    throw thrown instanceof OrreryError ? pasteable(thrown, name) : thrown;
  }
};

/** A fix that is an option becomes a whole command, so that it can be pasted. */
const pasteable = (error: OrreryError, name: string): OrreryError =>
  error.fix?.startsWith('--') === true
    ? new OrreryError(error.code, error.message, { rule: error.rule ?? undefined, fix: `orrery ${name} ${error.fix}` })
    : error;

const parserOf = (spec: CommandSpec, options: readonly OptionSpec[]): Parser => {
  const parser = new Parser(spec.verb).exitOverride().helpOption(false).allowExcessArguments(false);
  parser.configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
  for (const { name, required } of spec.arguments ?? []) parser.argument(required ? `<${name}>` : `[${name}]`);
  for (const option of options) {
    const flags = option.kind === 'flag' ? `--${option.name}` : `--${option.name} <value>`;
    const made = new Option(option.name === 'help' ? '-h, --help' : flags);
    if (option.kind === 'list')
      made.argParser((value: string, before: unknown) => [
        ...(Array.isArray(before) ? (before as string[]) : []),
        ...value.split(',').filter((part) => part !== ''),
      ]);
    if (option.kind === 'texts')
      made.argParser((value: string, before: unknown) => [...(Array.isArray(before) ? (before as string[]) : []), value]);
    parser.addOption(made);
  }
  return parser;
};

const parseFailure = (
  failure: CommanderError,
  { spec, options, given }: { readonly spec: CommandSpec; readonly options: readonly OptionSpec[]; readonly given: number },
): OrreryError => {
  const name = nameOf(spec);
  const fix = `orrery ${name} --help`;
  const quoted = /'(--?[^' ]+)/.exec(failure.message)?.[1] ?? '';
  switch (failure.code) {
    case 'commander.unknownOption':
      return unknownOption(quoted, options, name);
    case 'commander.optionMissingArgument':
      return new OrreryError('invalid_input', `The option ${quoted} needs a value.`, { rule: optionRule(options, quoted), fix });
    case 'commander.missingArgument': {
      const missing = spec.arguments?.slice(given).find(({ required }) => required);
      return new OrreryError('invalid_input', `orrery ${name} needs ${argumentText(missing)}.`, {
        rule: missing?.summary ?? 'Its arguments are in its help.',
        fix: spec.examples[0].line,
      });
    }
    case 'commander.excessArguments':
      return new OrreryError('invalid_input', `orrery ${name} takes fewer arguments.`, {
        rule: 'Text with spaces is put in quotes.',
        fix: spec.examples[0].line,
      });
    default:
      return new OrreryError('invalid_input', `The command line of orrery ${name} cannot be read.`, { fix });
  }
};

const argumentText = (missing: ArgumentSpec | undefined): string =>
  missing === undefined ? 'an argument' : missing.name.toUpperCase();
const optionRule = (options: readonly OptionSpec[], flag: string): string => {
  const option = options.find(({ name }) => `--${name}` === flag);
  return option === undefined ? 'Its value follows it.' : `${flag} ${option.value ?? 'VALUE'}: ${option.summary}.`;
};

type Parsed = {
  readonly spec: CommandSpec;
  readonly options: readonly OptionSpec[];
  readonly parser: Parser;
  readonly tail: readonly string[];
};

const inputOf = ({ spec, options, parser, tail }: Parsed): CommandInput => {
  const values = new Map<string, unknown>();
  for (const option of options) {
    const key = new Option(`--${option.name}`).attributeName();
    const value: unknown = parser.getOptionValue(key);
    if (option.name.startsWith('no-')) values.set(option.name, value === false);
    else if (value !== undefined) values.set(option.name, readValue(option, value));
  }
  const args = new Map(
    (spec.arguments ?? []).map((argument, place) => [
      argument.name,
      checkChoice(argument, { value: parser.args[place] ?? null, name: nameOf(spec) }),
    ]),
  );
  const option = (name: string): unknown => {
    if (!options.some((known) => known.name === name)) throw new Error(`The table of ${nameOf(spec)} has no option ${name}.`);
    return values.get(name);
  };
  return {
    argument: (name) => args.get(name) ?? null,
    text: (name) => (option(name) as string | undefined) ?? null,
    number: (name) => (option(name) as number | undefined) ?? null,
    list: (name) => (option(name) as string[] | undefined) ?? [],
    flag: (name) => option(name) === true,
    tail,
  };
};

const checkChoice = (
  argument: ArgumentSpec,
  { value, name }: { readonly value: string | null; readonly name: string },
): string | null => {
  if (value === null || argument.choices === undefined || argument.choices.includes(value)) return value;
  const guess = closest(value, argument.choices);
  throw new OrreryError('unknown_name', `${argument.name.toUpperCase()} is not one of those that there are.`, {
    rule: `There are: ${argument.choices.join(', ')}.`,
    fix: `orrery ${name} ${guess ?? argument.choices[0]}`,
  });
};
