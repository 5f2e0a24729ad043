import type { CommandSpec, OptionSpec } from './commands/command.ts';
import { commonOptions, nameOf, optionsOf } from './command-line.ts';
import { exits, type Exit } from './exit.ts';
import type { Screen } from './screen.ts';

/** Exit codes that a row can end with, in order. */
export const exitsOf = (spec: CommandSpec): readonly Exit[] => {
  const remote = (spec.operations ?? []).length > 0;
  const codes = new Set<number>([
    0,
    1,
    2,
    ...(remote ? [3, 4, 8] : []),
    ...(spec.changes !== undefined ? [7, 10] : []),
    ...(spec.exits ?? []),
  ]);
  return exits.filter(({ code }) => codes.has(code));
};

/** `--max-retries N`. */
export const flagOf = (option: OptionSpec): string => {
  const value =
    option.value ??
    { flag: '', text: 'TEXT', number: 'N', usd: 'USD', duration: 'TIME', bytes: 'SIZE', list: 'A,B', texts: 'TEXT' }[option.kind];
  return option.kind === 'flag' ? `--${option.name}` : `--${option.name} ${value}`;
};

/** `orrery task add PROMPT [options] [-- COMMAND…]`. */
export const usageOf = (spec: CommandSpec): string => {
  const words = (spec.arguments ?? []).map(({ name, required }) => (required ? name.toUpperCase() : `[${name.toUpperCase()}]`));
  return ['orrery', nameOf(spec), ...words, '[options]', ...(spec.tail === undefined ? [] : [`[-- ${spec.tail}]`])].join(' ');
};

/** What an option does, with its choices. */
export const summaryOf = (option: OptionSpec): string =>
  option.choices === undefined ? option.summary : `${option.summary}: ${option.choices.join(', ')}`;

/** Two columns; the second wraps within the width. */
const columns = (screen: Screen, rows: readonly (readonly [string, string])[]): string => {
  const width = Math.min(34, Math.max(...rows.map(([left]) => left.length)));
  const room = Math.max(24, screen.columns - width - 4);
  return rows
    .map(([left, right]) => {
      const [first = '', ...rest] = wrap(right, room);
      const head = left.length > width ? `  ${left}\n${' '.repeat(width + 4)}${first}` : `  ${left.padEnd(width)}  ${first}`;
      return [head.trimEnd(), ...rest.map((line) => ' '.repeat(width + 4) + line)].join('\n');
    })
    .join('\n');
};

/** Breaks a text between words. */
export const wrap = (text: string, width: number): string[] => {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
};

const section = (screen: Screen, title: string, body: string): string => `${screen.bold(title)}\n${body}`;

/** Help of one command: what it does, then examples, usage, options, exit codes. */
export const commandHelp = (spec: CommandSpec, screen: Screen): string => {
  const own = optionsOf(spec).filter((option) => !commonOptions.includes(option));
  const examples = spec.examples.map(({ line, does }) => `  ${line}\n      ${screen.dim(does)}`).join('\n');
  const rows = (title: string, pairs: readonly (readonly [string, string])[]): string[] =>
    pairs.length === 0 ? [] : [section(screen, title, columns(screen, pairs))];
  return [
    `${nameOf(spec)}: ${spec.summary}`,
    section(screen, 'Examples', examples),
    ...(spec.detail === undefined ? [] : [wrap(spec.detail, screen.columns).join('\n')]),
    section(screen, 'Usage', `  ${usageOf(spec)}`),
    ...rows(
      'Arguments',
      (spec.arguments ?? []).map(({ name, summary }) => [name.toUpperCase(), summary] as const),
    ),
    ...rows(
      'Options',
      own.map((option) => [flagOf(option), summaryOf(option)] as const),
    ),
    ...rows(
      'Options of every command',
      commonOptions.map((option) => [flagOf(option), option.summary] as const),
    ),
    ...rows(
      'Exit codes',
      exitsOf(spec).map(({ code, meaning }) => [String(code), meaning] as const),
    ),
  ].join('\n\n');
};

/** Help of a noun: its verbs. */
export const nounHelp = (noun: string, table: readonly CommandSpec[], screen: Screen): string => {
  const rows = table.filter((spec) => spec.noun === noun && spec.hidden !== true);
  return [
    section(
      screen,
      'Examples',
      rows
        .slice(0, 3)
        .map((spec) => `  ${spec.examples[0].line}`)
        .join('\n'),
    ),
    section(
      screen,
      `orrery ${noun}`,
      columns(
        screen,
        rows.map((spec) => [spec.verb, spec.summary] as const),
      ),
    ),
    screen.dim(`orrery ${noun} VERB --help tells more.`),
  ].join('\n\n');
};

/** Help of the whole: the first steps, then every noun. */
export const mainHelp = (table: readonly CommandSpec[], screen: Screen): string => {
  const shown = table.filter((spec) => spec.hidden !== true);
  const nouns = [...new Set(shown.map(({ noun }) => noun).filter((noun) => noun !== null))];
  const nounRows = nouns.map(
    (noun) =>
      [
        noun,
        shown
          .filter((spec) => spec.noun === noun)
          .map(({ verb }) => verb)
          .join(', '),
      ] as const,
  );
  return [
    'Orrery runs coding agents in sandboxes and checks what they did.',
    section(
      screen,
      'Examples',
      columns(screen, [
        ['orrery demo', 'see a whole run, without a key'],
        ['orrery run "fix the failing test"', 'in a repository: an agent works, the repository checks'],
        ['orrery task list', 'what ran, runs and waits'],
      ]),
    ),
    section(
      screen,
      'Commands',
      columns(
        screen,
        shown.filter((spec) => spec.noun === null).map((spec) => [spec.verb, spec.summary] as const),
      ),
    ),
    section(screen, 'Things', columns(screen, nounRows)),
    screen.dim('orrery COMMAND --help tells more; orrery help --man prints the manual.'),
  ].join('\n\n');
};
