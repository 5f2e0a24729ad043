// Content of messages and of tool calls as text. Pure.

import { asText } from '../clip.ts';
import type { Diff, Part, ToolCall } from './wire.ts';

type Block = { readonly type: string; readonly [name: string]: unknown };

/** One block of a message. What is no text is named. */
export const blockText = (block: Block): string => {
  if (block.type === 'text') return typeof block['text'] === 'string' ? block['text'] : '';
  const resource = block['resource'];
  if (isObject(resource) && typeof resource['text'] === 'string') return resource['text'];
  const uri = block['uri'] ?? (isObject(resource) ? resource['uri'] : undefined);
  return typeof uri === 'string' ? `[${block.type} ${uri}]` : `[${block.type}]`;
};

/** A change of a file as people read it: the lines that go and those that come, without what stays around them. */
export const diffText = ({ path, oldText, newText }: Diff): string => {
  const before = linesOf(oldText ?? '');
  const after = linesOf(newText);
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < most - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  return [
    path,
    `@@ line ${head + 1} @@`,
    ...before.slice(head, before.length - tail).map((line) => `-${line}`),
    ...after.slice(head, after.length - tail).map((line) => `+${line}`),
  ].join('\n');
};

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

const partText = (part: Part): string => {
  switch (part.type) {
    case 'content':
      return blockText(part.content);
    case 'diff':
      return diffText(part);
    case 'terminal':
      return `[terminal ${part.terminalId}]`;
  }
};

/** What a call shows; null: it says nothing of it. */
export const contentText = (content: readonly Part[] | null): string | null => {
  if (content === null || content.length === 0) return null;
  return content.map(partText).join('\n');
};

/** What a tool gave, by its content first. */
export const outputText = ({ content, rawOutput }: ToolCall): string | null => {
  const shown = contentText(content);
  if (shown !== null) return shown;
  if (rawOutput === undefined || rawOutput === null) return null;
  if (isObject(rawOutput) && typeof rawOutput['output'] === 'string') return rawOutput['output'];
  return asText(rawOutput);
};

/** What a tool is given: its own input, or what it shows of it. */
export const inputText = ({ rawInput, title, content }: ToolCall): string => {
  if (isObject(rawInput) && Object.keys(rawInput).length > 0) return asText(rawInput);
  if (typeof rawInput === 'string' && rawInput !== '') return rawInput;
  return [title ?? '', contentText(content) ?? ''].filter((text) => text !== '').join('\n');
};

/** A word as a shell takes it for one. */
const shellWord = (word: unknown): string => {
  const text = asText(word);
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
};

/** The whole command that a call runs, with the arguments that stand beside it; null: it runs none. A list of words is one too. */
export const commandOf = ({ rawInput, kind, title }: ToolCall): string | null => {
  const input = isObject(rawInput) ? rawInput : {};
  const command = input['command'] ?? input['cmd'];
  const more = Array.isArray(input['args']) ? input['args'].map(shellWord) : [];
  if (typeof command === 'string' && command !== '') return [command, ...more].join(' ');
  if (Array.isArray(command)) return [...command.map(shellWord), ...more].join(' ');
  return kind === 'execute' ? (title ?? '') : null;
};

const PATHS = ['path', 'file_path', 'filePath', 'filepath', 'fileName', 'absolute_path', 'notebook_path', 'destination'];

/** Every file that a call names. */
export const pathsOf = ({ locations, content, rawInput }: ToolCall): readonly string[] => {
  const named = isObject(rawInput) ? PATHS.map((name) => rawInput[name]).filter((path) => typeof path === 'string') : [];
  const changed = (content ?? []).flatMap((part) => (part.type === 'diff' ? [part.path] : []));
  return [...new Set([...(locations ?? []).map(({ path }) => path), ...changed, ...named])];
};

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
