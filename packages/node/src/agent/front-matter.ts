// Markdown files with front matter: those of agents, and of skills.

import { OrreryError } from '@orrery/protocol';
import type { z } from 'zod';
import { parseYamlFile } from '../config/yaml-file.ts';
import { AGENT_FILE_BYTES } from '../kernel/limits.ts';

/** One file as it was found. `path`: for people. */
type MarkdownFile = { readonly path: string; readonly contents: Uint8Array };

/** Something is wrong with a file. */
export const invalid = (path: string, problem: string, lines: { readonly rule: string; readonly fix?: string }): OrreryError =>
  new OrreryError('config_invalid', `${path}: ${problem}.`, lines);

/** The text of a file. @throws OrreryError for what is too large or no text */
export const textOf = ({ path, contents }: MarkdownFile): string => {
  if (contents.byteLength > AGENT_FILE_BYTES)
    throw new OrreryError('input_too_large', `${path} is too large.`, {
      rule: `Such a file has at most ${AGENT_FILE_BYTES} bytes.`,
    });
  const rule = 'Such a file is Markdown in UTF-8.';
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(contents);
    if (!text.includes('\0')) return text.replaceAll('\r\n', '\n');
  } catch {
    // Said below.
  }
  throw invalid(path, 'it is not text', { rule });
};

/** Front matter and body; a file without front matter is all body. Lines stay where they are, for messages. */
export const parted = (text: string, path: string): { readonly front: string; readonly body: string } => {
  if (!text.startsWith('---\n')) return { front: '', body: text };
  const end = /\n---[ \t]*(?:\n|$)/.exec(text.slice(3));
  if (end === null) throw invalid(`${path}:1`, 'the front matter has no end', { rule: 'It stands between two lines of "---".' });
  const at = 3 + end.index;
  return { front: `\n${text.slice(4, at)}\n`, body: text.slice(at + end[0].length) };
};

/** Front matter by a schema. @throws OrreryError which names the line, the key and the rule */
export const read = <Schema extends z.ZodType>(front: string, schema: Schema, label: string): z.output<Schema> => {
  try {
    return parseYamlFile({ text: front, schema, label }).value;
  } catch (thrown) {
    if (thrown instanceof OrreryError) throw thrown;
    throw invalid(label, 'its front matter is nested too deep', { rule: 'Front matter is a list of keys.' });
  }
};
