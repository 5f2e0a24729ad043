// Changes of files as lines with + and -, which say it without colours too. Pure.

import { cutCells, visible } from './cells.ts';
import type { Look } from './look.ts';

export type Change = { readonly path: string | null; readonly lines: readonly string[] };

const isText = (value: unknown): value is string => typeof value === 'string';

/** A text that is a JSON object; null: it is something else. */
export const jsonObject = (input: string): Readonly<Record<string, unknown>> | null => {
  try {
    const value: unknown = JSON.parse(input);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
};

/** Lines that both have at the beginning and at the end are not shown as changed. */
const replaced = (before: string, after: string): string[] => {
  const [old, next] = [before.split('\n'), after.split('\n')];
  let head = 0;
  while (head < old.length && head < next.length && old[head] === next[head]) head += 1;
  let tail = 0;
  while (tail < old.length - head && tail < next.length - head && old.at(-1 - tail) === next.at(-1 - tail)) tail += 1;
  return [
    ...old.slice(Math.max(0, head - 1), head).map((line) => ` ${line}`),
    ...old.slice(head, old.length - tail).map((line) => `-${line}`),
    ...next.slice(head, next.length - tail).map((line) => `+${line}`),
    ...(tail > 0 ? old.slice(old.length - tail, old.length - tail + 1).map((line) => ` ${line}`) : []),
  ];
};

/** The change that a tool's input describes; null: it describes none. */
export const diffOf = (input: string): Change | null => {
  const value = jsonObject(input);
  if (value === null) return looksLikeDiff(input) ? { path: null, lines: input.split('\n') } : null;
  const path = [value['file_path'], value['path']].find(isText) ?? null;
  const [before, after] = [value['old_string'] ?? value['oldText'], value['new_string'] ?? value['newText']];
  if (isText(before) && isText(after)) return { path, lines: replaced(before, after) };
  const { edits } = value;
  if (path !== null && Array.isArray(edits)) {
    const lines = edits.flatMap((edit) => diffOf(JSON.stringify(edit))?.lines ?? []);
    return lines.length === 0 ? null : { path, lines };
  }
  if (path !== null && isText(value['content'])) return { path, lines: value['content'].split('\n').map((line) => `+${line}`) };
  const diff = value['diff'] ?? value['unified_diff'] ?? value['patch'];
  return isText(diff) ? { path, lines: diff.split('\n') } : null;
};

/** Whether text is a unified diff. */
export const looksLikeDiff = (text: string): boolean => /^(diff --git |--- .*\n\+\+\+ |@@ -\d)/m.test(text);

/** One line of a diff in its colour. */
export const diffLine = (line: string, { screen, columns }: Look): string => {
  const text = cutCells(visible(line).replaceAll('\n', ' '), columns - 4);
  if (/^(\+\+\+|---|diff |index |@@)/.test(line)) return `    ${screen.dim(text)}`;
  if (line.startsWith('+')) return `    ${screen.added(text)}`;
  return line.startsWith('-') ? `    ${screen.removed(text)}` : `    ${text}`.trimEnd();
};

/** A change with at most so many lines. */
export const diffLines = ({ lines }: Change, look: Look & { readonly most: number }): string[] => {
  const left = lines.length - look.most;
  return [
    ...lines.slice(0, look.most).map((line) => diffLine(line, look)),
    ...(left > 0 ? [look.screen.dim(`    … ${left} more ${left === 1 ? 'line' : 'lines'}: Ctrl-O`)] : []),
  ];
};
