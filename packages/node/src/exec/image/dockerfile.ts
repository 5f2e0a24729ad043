// As much of a Dockerfile as has to be known before an engine gets it: which images it begins with, and what in it would
// reach further than its context. What engines read in different ways is refused, so that nothing is read otherwise here
// than there.
import { OrreryError } from '@orrery/protocol/errors';

/** What a Dockerfile asks for. */
export type Dockerfile = {
  /** Every image that it begins with or copies from, each once; not its own stages, not `scratch`. */
  readonly bases: readonly string[];
  /** The same text with a line after each FROM. */
  withLabel(line: string): string;
};

type Instruction = { readonly name: string; readonly rest: string; readonly line: number; readonly lastLine: number };

const KNOWN =
  'ADD ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL MAINTAINER ONBUILD RUN SHELL STOPSIGNAL USER VOLUME WORKDIR'.split(
    ' ',
  );

const refuse = (line: number, message: string, rule: string): OrreryError =>
  new OrreryError('config_invalid', `Line ${line} of the Dockerfile ${message}.`, { rule, details: { key: 'build', line } });

const PLAIN = 'A Dockerfile is checked before it is built: what engines read in different ways is refused.';

/** Lines with their continuations joined; comments and blank lines inside them are left out, as engines do. */
const instructionsOf = (lines: readonly string[]): Instruction[] => {
  const found: Instruction[] = [];
  let begun: { text: string; line: number } | null = null;
  lines.forEach((text, at) => {
    const line = at + 1;
    const directive = /^\s*#\s*escape\s*=\s*(\S*)/i.exec(text);
    if (directive !== null && directive[1] !== '\\') throw refuse(line, 'sets another escape character', PLAIN);
    if (/^\s*(#|$)/.test(text)) return;
    if (/\\\\[ \t]*$/.test(text)) throw refuse(line, 'ends with two backslashes', PLAIN);
    const continues = /\\[ \t]*$/.test(text);
    const said = `${begun?.text ?? ''}${continues ? text.replace(/\\[ \t]*$/, '') : text}`;
    begun = { text: said, line: begun?.line ?? line };
    if (!continues) {
      found.push(instruction(begun, line));
      begun = null;
    }
  });
  if (begun !== null) found.push(instruction(begun, lines.length));
  return found;
};

const instruction = ({ text, line }: { readonly text: string; readonly line: number }, lastLine: number): Instruction => {
  const match = /^\s*([A-Za-z]+)(?:\s+(.*))?$/s.exec(text);
  const name = (match?.[1] ?? '').toUpperCase();
  if (match === null || !KNOWN.includes(name)) throw refuse(line, 'is no instruction that is known', PLAIN);
  return { name, rest: (match[2] ?? '').trim(), line, lastLine };
};

const checkAdd = ({ rest, line }: Instruction): void => {
  if (!/:\/\/|^git@|\sgit@|\$|"git@/.test(rest)) return;
  throw refuse(
    line,
    'adds something by an address, or by a name that is not written out',
    'What ADD fetches is fetched by the engine itself, outside of the walls of a build. Use RUN with a program that fetches, where the operator gives builds a network.',
  );
};

const checkRun = ({ name, rest, line }: Instruction): void => {
  if (rest.startsWith('--'))
    throw refuse(line, `gives ${name} options`, 'Mounts, networks and rights of a build are the operator’s.');
  if (/<<-?\s*["']?[A-Za-z_]/.test(rest)) throw refuse(line, 'has a text of several lines (<<)', PLAIN);
};

/** The image that COPY takes from; null for the context. */
const copySource = ({ rest, line }: Instruction): string | null => {
  const from = /(?:^|\s)--from(?:=|\s+)(\S+)/i.exec(rest)?.[1] ?? null;
  if (from?.includes('$') === true) throw refuse(line, 'copies from an image whose name is not written out', PLAIN);
  return from;
};

const unquote = (text: string): string => text.replace(/^(["'])(.*)\1$/s, '$2');

/** `$NAME` and `${NAME}` by the values that are known. */
const fill = (
  text: string,
  { values, line }: { readonly values: ReadonlyMap<string, string>; readonly line: number },
): string => {
  const filled = text.replace(/\$(?:\{(\w+)\}|(\w+))/g, (_, braced?: string, bare?: string) => {
    const name = braced ?? bare ?? '';
    const value = values.get(name);
    if (value === undefined) throw refuse(line, `begins with an image by the argument ${name}, which has no value`, PLAIN);
    return value;
  });
  if (/[$\\"']/.test(filled)) throw refuse(line, 'begins with an image whose name cannot be read', PLAIN);
  return filled;
};

type Reading = {
  readonly args: Readonly<Record<string, string>>;
  readonly values: Map<string, string>;
  readonly stages: string[];
  readonly bases: Set<string>;
  count: number;
};

const takeFrom = (reading: Reading, { rest, line }: Instruction): void => {
  const match = /^(\S+)(?:\s+as\s+(\S+))?$/i.exec(rest);
  if (match === null || rest.startsWith('--')) throw refuse(line, 'gives FROM something else than an image and a name', PLAIN);
  const image = fill(match[1] ?? '', { values: reading.values, line });
  if (image !== 'scratch' && !reading.stages.includes(image.toLowerCase())) reading.bases.add(image);
  reading.count++;
  if (match[2] !== undefined) reading.stages.push(match[2].toLowerCase());
};

const takeArg = ({ args, values, count }: Reading, { rest }: Instruction): void => {
  // Only what stands before the first stage has a say in which image a stage begins with.
  if (count > 0) return;
  for (const word of rest.split(/\s+/)) {
    const [name = '', value] = word.split(/=(.*)/s, 2);
    const given = args[name] ?? (value === undefined ? undefined : unquote(value));
    if (given !== undefined) values.set(name, given);
  }
};

const takeCopy = ({ stages, bases, count }: Reading, one: Instruction): void => {
  const from = copySource(one);
  if (from === null || stages.includes(from.toLowerCase())) return;
  if (/^\d+$/.test(from) && Number(from) < count) return;
  bases.add(from);
};

const take = (reading: Reading, one: Instruction): void => {
  const { name, rest, line } = one;
  if (name === 'FROM') return takeFrom(reading, one);
  if (name === 'ARG') return takeArg(reading, one);
  if (name === 'RUN') return checkRun(one);
  if (name === 'ADD') {
    checkAdd(one);
    return checkHeredoc(one);
  }
  if (name === 'COPY') {
    checkHeredoc(one);
    return takeCopy(reading, one);
  }
  if (name === 'ONBUILD') return take(reading, instruction({ text: rest, line }, one.lastLine));
};

const checkHeredoc = ({ rest, line }: Instruction): void => {
  if (rest.includes('<<')) throw refuse(line, 'has a text of several lines (<<)', PLAIN);
};

/** Reads the text of a Dockerfile with the arguments of its build. Throws `config_invalid` with the line of what is refused. */
export const readDockerfile = (text: string, args: Readonly<Record<string, string>>): Dockerfile => {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const instructions = instructionsOf(lines);
  const reading: Reading = { args, values: new Map(), stages: [], bases: new Set(), count: 0 };
  for (const one of instructions) take(reading, one);
  if (reading.count === 0) throw refuse(1, 'names no image', 'A Dockerfile has a FROM.');
  const ends = new Set(instructions.filter(({ name }) => name === 'FROM').map(({ lastLine }) => lastLine));
  return {
    bases: [...reading.bases],
    withLabel: (line) => lines.flatMap((one, at) => (ends.has(at + 1) ? [one, line] : [one])).join('\n'),
  };
};
