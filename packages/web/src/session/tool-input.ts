// What a tool was given, as a person reads it: a command, or the lines that a file loses and gets. Pure.

/** One change of a file, as a program asks for it. */
export type EditOf = { readonly path: string; readonly lines: readonly EditLine[]; readonly more: number };
export type EditLine = { readonly sign: '+' | '-'; readonly text: string };

export type ToolInput =
  | { readonly kind: 'command'; readonly text: string }
  | { readonly kind: 'edit'; readonly edits: readonly EditOf[] }
  | { readonly kind: 'other'; readonly text: string };

/** Lines of an edit that are shown; how many more there are is said. */
const SHOWN_LINES = 200;

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null;

const textOf = (fields: Fields, ...names: readonly string[]): string | null => {
  const found = names.map((name) => fields[name]).find((value) => typeof value === 'string');
  return typeof found === 'string' ? found : null;
};

/** Reads the input of a tool by its form, whatever its program calls it. What is neither a command nor an edit stays as it is. */
export const toolInputOf = (input: string): ToolInput => {
  const fields = parsed(input);
  if (fields === null) return { kind: 'other', text: input };
  const command = textOf(fields, 'command', 'cmd');
  if (command !== null) return { kind: 'command', text: command };
  const edits = editsOf(fields);
  return edits.length > 0 ? { kind: 'edit', edits } : { kind: 'other', text: input };
};

const parsed = (input: string): Fields | null => {
  try {
    return fieldsOf(JSON.parse(input));
  } catch {
    return null;
  }
};

const editsOf = (fields: Fields): readonly EditOf[] => {
  const path = textOf(fields, 'file_path', 'filePath', 'path');
  if (path === null) return [];
  const several = fields['edits'];
  const pieces = Array.isArray(several) ? several.map(fieldsOf).filter((piece) => piece !== null) : [fields];
  return pieces.map((piece) => editOf(path, piece)).filter((edit) => edit !== null);
};

const editOf = (path: string, fields: Fields): EditOf | null => {
  const before = textOf(fields, 'old_string', 'oldString', 'oldText', 'old_text');
  const after =
    textOf(fields, 'new_string', 'newString', 'newText', 'new_text') ?? (before === null ? textOf(fields, 'content') : '');
  if (after === null) return null;
  const lines = [...linesOf('-', before ?? ''), ...linesOf('+', after)];
  return { path, lines: lines.slice(0, SHOWN_LINES), more: Math.max(0, lines.length - SHOWN_LINES) };
};

const linesOf = (sign: '+' | '-', text: string): readonly EditLine[] =>
  text === ''
    ? []
    : text
        .replace(/\n$/, '')
        .split('\n')
        .map((line) => ({ sign, text: line }));
