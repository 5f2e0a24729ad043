// Tool calls as an editor shows them: what kind, which files, what changes. Pure; what a program said is data.
import type { ToolCallContent, ToolCallLocation, ToolKind } from '@agentclientprotocol/sdk';
import type { InteractionAsk } from '@orrery/protocol';
import { inertLine } from '../../inert.ts';
import { acpLimits } from './limits.ts';
import type { Place } from './place.ts';

/** The parts of a tool call that say what it is. */
export type ToolFace = {
  readonly title: string;
  readonly kind: ToolKind;
  readonly locations: ToolCallLocation[];
  readonly content: ToolCallContent[];
};

/** Tools of the programs we know, by the word that is in their name. The first that fits counts. */
const kinds: readonly (readonly [RegExp, ToolKind])[] = [
  [/^(bash|shell|exec|run|terminal|local_shell)/i, 'execute'],
  [/(edit|write|patch|replace|create_file)/i, 'edit'],
  [/(delete|remove)/i, 'delete'],
  [/(move|rename)/i, 'move'],
  [/(grep|glob|search|find|^ls$|list)/i, 'search'],
  [/(fetch|http|browser|url)/i, 'fetch'],
  [/(read|view|cat|open)/i, 'read'],
  [/(think|plan|todo)/i, 'think'],
];

const kindOf = (tool: string): ToolKind => kinds.find(([name]) => name.test(tool))?.[1] ?? 'other';

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const first = (input: Readonly<Record<string, unknown>>, names: readonly string[]): string | null =>
  names.map((name) => text(input[name])).find((value) => value !== null) ?? null;

/** The input as an object; text that is none (or was cut) is null. */
const objectOf = (input: string): Readonly<Record<string, unknown>> | null => {
  try {
    const value: unknown = JSON.parse(input);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
};

const titleOf = (title: string): string => {
  const line = inertLine(title);
  return line.length <= acpLimits.titleChars ? line : `${line.slice(0, acpLimits.titleChars - 1)}…`;
};

/** A piece of text as content. */
export const words = (said: string): ToolCallContent => ({ type: 'content', content: { type: 'text', text: said } });

const diffsOf = (input: Readonly<Record<string, unknown>>, path: string): ToolCallContent[] => {
  const edits = Array.isArray(input['edits']) ? (input['edits'] as unknown[]) : [input];
  return edits.flatMap((edit) => {
    const one = (typeof edit === 'object' && edit !== null ? edit : {}) as Record<string, unknown>;
    const [before, after] = [
      first(one, ['old_string', 'oldText', 'old_text']),
      first(one, ['new_string', 'newText', 'new_text']),
    ];
    if (before !== null && after !== null) return [{ type: 'diff' as const, path, oldText: before, newText: after }];
    const whole = edit === input ? first(one, ['content']) : null;
    return whole === null ? [] : [{ type: 'diff' as const, path, newText: whole }];
  });
};

/** A unified diff with one file in it, as before and after; null when it is none. */
const patchOf = (patch: string, path: string): ToolCallContent | null => {
  const lines = patch.split('\n').filter((line) => !/^(---|\+\+\+|@@|diff |index )/.test(line));
  if (!lines.some((line) => /^[+-]/.test(line))) return null;
  const side = (mark: string): string =>
    lines
      .filter((line) => !/^[+-]/.test(line) || line.startsWith(mark))
      .map((line) => line.slice(1))
      .join('\n');
  const oldText = side('-');
  return { type: 'diff', path, newText: side('+'), ...(oldText === '' ? {} : { oldText }) };
};

/** `path`, then its diff: a change of files as Codex tells it. */
const changesOf = (
  input: string,
  place: Place,
): { readonly locations: ToolCallLocation[]; readonly content: ToolCallContent[] } => {
  const [path = '', ...rest] = input.split('\n');
  if (!path.startsWith('/')) return { locations: [], content: [] };
  const shown = place.outward(path);
  const patch = patchOf(rest.join('\n'), shown);
  return { locations: [{ path: shown }], content: patch === null ? [] : [patch] };
};

/** A tool call of the log. */
export const toolFace = (tool: string, input: string, place: Place): ToolFace => {
  const kind = kindOf(tool);
  const given = objectOf(input);
  if (given === null) {
    const changes = kind === 'edit' ? changesOf(input, place) : { locations: [], content: [] };
    const content = changes.content.length > 0 ? changes.content : input === '' ? [] : [words(input)];
    const title = changes.locations[0]?.path ?? (kind === 'execute' ? input : `${tool} ${input}`);
    return { title: titleOf(title === '' ? tool : title), kind, locations: changes.locations, content };
  }
  const command = first(given, ['command', 'cmd']);
  if (command !== null) return { title: titleOf(command), kind, locations: [], content: [words(command)] };
  const path = first(given, ['file_path', 'path', 'notebook_path', 'filePath', 'absolute_path']);
  if (path === null) {
    const about = first(given, ['pattern', 'query', 'url', 'description', 'prompt']);
    return { title: titleOf(about === null ? tool : `${tool} ${about}`), kind, locations: [], content: [words(input)] };
  }
  const shown = place.outward(path);
  const content = kind === 'edit' ? diffsOf(given, shown) : [];
  const line = given['line'] ?? given['offset'];
  const location = { path: shown, ...(typeof line === 'number' && Number.isInteger(line) && line >= 0 ? { line } : {}) };
  return { title: titleOf(`${tool} ${shown}`), kind, locations: [location], content };
};

/** What is asked, whole enough to decide. */
export const askFace = (ask: InteractionAsk, place: Place): ToolFace => {
  const locations = ask.paths.map((path) => ({ path: place.outward(path) }));
  const title = titleOf(ask.title);
  if (ask.kind === 'command') return { title, kind: 'execute', locations, content: [words(ask.command ?? ask.detail)] };
  if (ask.kind === 'edit') {
    const face = toolFace(ask.tool ?? 'edit', ask.detail, place);
    const diffs = face.content.filter(({ type }) => type === 'diff');
    return { title, kind: 'edit', locations, content: diffs.length > 0 ? diffs : [words(ask.detail)] };
  }
  return { title, kind: ask.kind === 'plan' ? 'switch_mode' : 'other', locations, content: [words(ask.detail)] };
};
