import { closest, OrreryError } from '@orrery/protocol/errors';
import type { OptionSpec } from './commands/command.ts';

const MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000, d: 86_400_000 };
const BYTES: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  k: 1024,
  kib: 1024,
  m: 1024 ** 2,
  mib: 1024 ** 2,
  g: 1024 ** 3,
  gib: 1024 ** 3,
};

const refuse = (option: OptionSpec, rule: string): OrreryError =>
  new OrreryError('invalid_input', `The value of --${option.name} cannot be used.`, {
    rule,
    fix: `--${option.name} ${exampleOf(option)}`,
  });

const exampleOf = (option: OptionSpec): string => {
  const examples: Readonly<Record<OptionSpec['kind'], string>> = {
    flag: '',
    text: option.value ?? 'TEXT',
    list: option.value ?? 'A,B',
    texts: option.value ?? 'TEXT',
    number: '3',
    usd: '2.50',
    duration: '30m',
    bytes: '512M',
  };
  return option.choices?.[0] ?? examples[option.kind];
};

/** Reads the value of an option by its kind; durations become milliseconds, sizes bytes. Throws `invalid_input` without the value. */
export const readValue = (option: OptionSpec, value: unknown): unknown => {
  if (option.kind === 'flag' || option.kind === 'list' || option.kind === 'texts') return value;
  const text = String(value);
  switch (option.kind) {
    case 'number':
      if (!/^\d{1,15}$/.test(text)) throw refuse(option, 'A whole number that is not negative.');
      return Number(text);
    case 'usd':
      if (!/^\d{1,9}(\.\d{1,6})?$/.test(text)) throw refuse(option, 'An amount of US dollars.');
      return Number(text);
    case 'duration':
      return scaled({ option, text: text.toLowerCase(), units: MS, rule: 'A number with a unit: ms, s, m, h or d.' });
    case 'bytes':
      return scaled({
        option,
        text: text.toLowerCase(),
        units: BYTES,
        rule: 'A number of bytes, with K, M or G behind it if you like.',
      });
    default:
      return checkedText(option, text);
  }
};

const scaled = ({
  option,
  text,
  units,
  rule,
}: {
  option: OptionSpec;
  text: string;
  units: Readonly<Record<string, number>>;
  rule: string;
}): number => {
  const value = amountOf(text, units);
  if (value === null) throw refuse(option, rule);
  return value;
};

const amountOf = (text: string, units: Readonly<Record<string, number>>): number | null => {
  const match = /^(\d{1,12}(?:\.\d{1,3})?)([a-z]*)$/.exec(text);
  const unit = units[match?.[2] ?? '?'];
  return match === null || unit === undefined ? null : Math.round(Number(match[1]) * unit);
};

/** A span of time in milliseconds (`90m`), or null when the text is none. */
export const spanMs = (text: string): number | null => amountOf(text.toLowerCase(), MS);

const checkedText = (option: OptionSpec, text: string): string => {
  if (option.choices === undefined || option.choices.includes(text)) return text;
  const guess = closest(text, option.choices);
  throw new OrreryError('unknown_name', `--${option.name} does not know that value.`, {
    rule: `There are: ${option.choices.join(', ')}.`,
    fix: `--${option.name} ${guess ?? option.choices[0]}`,
  });
};
