/**
 * The language of scripts: what a step may say, checked before anything is played.
 * A script is a list of steps, or an object with `steps` (for everybody) and `scripts` (by a marker in the prompt).
 */
import { isObject } from './json.ts';
import type { JsonObject } from './json.ts';
import { REFUSAL_NAMES } from './refusal.ts';
import type { RefusalName } from './refusal.ts';

/** A script that cannot be played. The message names the place, the rule and the fix. */
export class ScriptError extends Error {
  override readonly name = 'ScriptError';
}

/** Whole file to be written, by whatever tool the program offers for it; `fresh` says that it does not exist yet. */
export type WriteIntent = { readonly path: string; readonly content: string; readonly fresh?: boolean };
/** Lines to be replaced; `old` and `new` are whole lines, since some programs patch by lines. */
export type EditIntent = { readonly path: string; readonly old: string; readonly new: string };
/** One named call of one tool; `raw` is the text of a tool that takes no JSON. */
export type ToolStep = { readonly tool: string; readonly input?: JsonObject; readonly raw?: string };
/** An answer given word for word instead of a reply. */
export type ExactError = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
};

/** One step: what one model call gets. README.md describes each field. */
export type Step = {
  readonly text?: string;
  readonly thinking?: string;
  readonly bytes?: number;
  readonly pieces?: number;
  readonly tool?: string;
  readonly input?: JsonObject;
  readonly raw?: string;
  readonly tools?: readonly ToolStep[];
  readonly write?: WriteIntent | readonly WriteIntent[];
  readonly edit?: EditIntent | readonly EditIntent[];
  readonly shell?: string;
  readonly hello?: string;
  readonly content?: string;
  readonly usage?: { readonly input?: number; readonly output?: number; readonly cached?: number };
  readonly error?: RefusalName | ExactError;
  readonly resets_in?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly delay_ms?: number;
  readonly chunk_ms?: number;
  readonly write_bytes?: number;
  readonly unknown?: boolean;
  readonly cut?: number | true;
  readonly stream_error?: RefusalName | ExactError;
  readonly clean?: boolean;
  readonly hang_after?: number;
  readonly drop?: boolean;
  readonly garbage?: boolean;
  readonly times?: number | 'forever';
  readonly on?: 'main' | 'side' | 'any';
  readonly match?: string;
  readonly matchPrompt?: string;
};

/** Steps for the conversations whose opening prompt contains `marker`. */
export type NamedScript = { readonly marker: string; readonly steps: readonly Step[]; readonly perConversation: boolean };
/** A checked script. */
export type Script = { readonly steps: readonly Step[]; readonly scripts: Readonly<Record<string, NamedScript>> };

/** Longest reply a `bytes` step may ask for. */
export const MAX_REPLY_BYTES = 64 * 1024 * 1024;
/** Most pieces that the text of a reply may be told in. */
export const MAX_TEXT_PIECES = 100_000;

type Rule = { readonly expected: string; readonly holds: (value: unknown) => boolean };

const isText = (value: unknown): boolean => typeof value === 'string';
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isFlag = (value: unknown): boolean => typeof value === 'boolean';
const isStrings = (value: unknown): boolean => isObject(value) && Object.values(value).every(isText);
const isRegex = (value: unknown): boolean => {
  if (typeof value !== 'string') return false;
  try {
    return new RegExp(value) instanceof RegExp;
  } catch {
    return false;
  }
};
const isError = (value: unknown): boolean =>
  REFUSAL_NAMES.some((name) => name === value) ||
  (isObject(value) &&
    onlyHas(value, ['status', 'headers', 'body']) &&
    isStatus(value['status']) &&
    (value['headers'] === undefined || isStrings(value['headers'])));
const isStatus = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 400 && (value as number) <= 599;
const isWrite = (value: unknown): boolean =>
  isObject(value) &&
  onlyHas(value, ['path', 'content', 'fresh']) &&
  isText(value['path']) &&
  isText(value['content']) &&
  (value['fresh'] === undefined || isFlag(value['fresh']));
const isEdit = (value: unknown): boolean =>
  isObject(value) &&
  onlyHas(value, ['path', 'old', 'new']) &&
  isText(value['path']) &&
  isText(value['old']) &&
  isText(value['new']) &&
  value['old'] !== '';
const isTool = (value: unknown): boolean =>
  isObject(value) &&
  onlyHas(value, ['tool', 'input', 'raw']) &&
  isText(value['tool']) &&
  (value['input'] === undefined || isObject(value['input'])) &&
  (value['raw'] === undefined || isText(value['raw']));
const oneOrMore = (holds: (value: unknown) => boolean) => (value: unknown) =>
  Array.isArray(value) ? value.length > 0 && value.every(holds) : holds(value);
const onlyHas = (value: JsonObject, names: readonly string[]): boolean =>
  Object.keys(value).every((name) => names.includes(name));

const TEXT: Rule = { expected: 'a string', holds: isText };
const FLAG: Rule = { expected: 'true or false', holds: isFlag };
const MILLISECONDS: Rule = { expected: 'a whole number of milliseconds, 0 or more', holds: isCount };
const REGEX: Rule = { expected: 'a regular expression as a string', holds: isRegex };
const REFUSAL: Rule = { expected: `one of ${REFUSAL_NAMES.join(', ')}, or {status 400-599, headers, body}`, holds: isError };

const FIELDS: Readonly<Record<keyof Step, Rule>> = {
  text: TEXT,
  thinking: TEXT,
  bytes: {
    expected: `a whole number from 1 to ${MAX_REPLY_BYTES}`,
    holds: (value) => isCount(value) && (value as number) >= 1 && (value as number) <= MAX_REPLY_BYTES,
  },
  pieces: {
    expected: `a whole number from 1 to ${MAX_TEXT_PIECES}`,
    holds: (value) => isCount(value) && (value as number) >= 1 && (value as number) <= MAX_TEXT_PIECES,
  },
  tool: TEXT,
  input: { expected: 'an object', holds: isObject },
  raw: TEXT,
  tools: {
    expected: 'a list of {tool, input} or {tool, raw}',
    holds: (value) => Array.isArray(value) && value.length > 0 && value.every(isTool),
  },
  write: { expected: '{path, content, fresh} or a list of them', holds: oneOrMore(isWrite) },
  edit: { expected: '{path, old, new} or a list of them, `old` not empty', holds: oneOrMore(isEdit) },
  shell: TEXT,
  hello: TEXT,
  content: TEXT,
  usage: {
    expected: '{input, output, cached} as whole numbers',
    holds: (value) => isObject(value) && onlyHas(value, ['input', 'output', 'cached']) && Object.values(value).every(isCount),
  },
  error: REFUSAL,
  resets_in: { expected: 'a whole number of seconds, 0 or more', holds: isCount },
  headers: { expected: 'an object of strings', holds: isStrings },
  delay_ms: MILLISECONDS,
  chunk_ms: MILLISECONDS,
  write_bytes: { expected: 'a whole number, 1 or more', holds: (value) => isCount(value) && value !== 0 },
  unknown: FLAG,
  cut: {
    expected: 'true or a share above 0 and below 1',
    holds: (value) => value === true || (typeof value === 'number' && value > 0 && value < 1),
  },
  stream_error: REFUSAL,
  clean: FLAG,
  hang_after: { expected: 'a whole number of events, 0 or more', holds: isCount },
  drop: FLAG,
  garbage: FLAG,
  times: {
    expected: '"forever" or a whole number from 1',
    holds: (value) => value === 'forever' || (isCount(value) && (value as number) >= 1),
  },
  on: { expected: '"main", "side" or "any"', holds: (value) => value === 'main' || value === 'side' || value === 'any' },
  match: REGEX,
  matchPrompt: REGEX,
};

const NEEDS: readonly (readonly [field: keyof Step, needs: keyof Step])[] = [
  ['input', 'tool'],
  ['raw', 'tool'],
  ['content', 'hello'],
  ['stream_error', 'cut'],
  ['clean', 'cut'],
  ['resets_in', 'error'],
  ['pieces', 'text'],
];
const ENDINGS: readonly (keyof Step)[] = ['error', 'drop', 'garbage', 'cut', 'hang_after'];

/** Checks a script given as parsed JSON. @throws ScriptError naming the step and the field. */
export function parseScript(value: unknown): Script {
  if (Array.isArray(value)) return { steps: parseSteps(value, 'script'), scripts: {} };
  if (!isObject(value))
    throw new ScriptError('script: expected a list of steps, or {steps, scripts}. Write [] for a script without steps.');
  refuseUnknown(value, ['steps', 'scripts'], 'script');
  const named = value['scripts'] ?? {};
  if (!isObject(named)) throw new ScriptError('script: `scripts` must be an object of {marker, steps, perConversation} by name.');
  const scripts = Object.fromEntries(Object.entries(named).map(([name, entry]) => [name, parseNamed(entry, `scripts.${name}`)]));
  return { steps: parseSteps(value['steps'] ?? [], 'steps'), scripts };
}

/** Checks a list of steps; a single step counts as a list of one. @throws ScriptError */
export function parseSteps(value: unknown, place = 'steps'): Step[] {
  const list = isObject(value) ? [value] : value;
  if (!Array.isArray(list)) throw new ScriptError(`${place}: expected a list of steps.`);
  return list.map((step, index) => parseStep(step, `${place}[${index}]`));
}

function parseNamed(value: unknown, place: string): NamedScript {
  if (!isObject(value)) throw new ScriptError(`${place}: expected {marker, steps, perConversation}.`);
  refuseUnknown(value, ['marker', 'steps', 'perConversation'], place);
  const { marker, perConversation = false } = value;
  if (typeof marker !== 'string' || marker === '')
    throw new ScriptError(`${place}: \`marker\` must be the text that a prompt carries to choose this script.`);
  if (typeof perConversation !== 'boolean') throw new ScriptError(`${place}: \`perConversation\` must be true or false.`);
  return { marker, perConversation, steps: parseSteps(value['steps'], `${place}.steps`) };
}

function parseStep(value: unknown, place: string): Step {
  if (!isObject(value)) throw new ScriptError(`${place}: a step must be an object such as {"text": "Done."}.`);
  refuseUnknown(value, Object.keys(FIELDS), place);
  for (const [name, given] of Object.entries(value)) {
    const rule = FIELDS[name as keyof Step];
    if (!rule.holds(given)) throw new ScriptError(`${place}: \`${name}\` must be ${rule.expected}.`);
  }
  for (const [field, needs] of NEEDS) {
    if (value[field] !== undefined && value[needs] === undefined)
      throw new ScriptError(`${place}: \`${field}\` says nothing without \`${needs}\`.`);
  }
  const endings = ENDINGS.filter((name) => value[name] !== undefined && value[name] !== false);
  if (endings.length > 1)
    throw new ScriptError(`${place}: ${endings.map((name) => `\`${name}\``).join(' and ')} exclude each other; keep one.`);
  return value as Step;
}

function refuseUnknown(value: JsonObject, known: readonly string[], place: string): void {
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new ScriptError(`${place}: unknown field \`${unknown}\`. Known: ${known.join(', ')}.`);
}
