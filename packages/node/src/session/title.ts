// What a session is about in one line, while nobody has named it: the first words of its first input, or what a model said.

import { inOneLine } from '../kernel/one-line.ts';
import { hideSecretShapes } from '../kernel/secret-shapes.ts';
import { SESSION_TITLE_CHARS } from './limits.ts';

/** The first words of a text, at most so many characters, on one line; null: there are none. Pure. */
export const titleOf = (text: string): string | null => {
  const beginning = hideSecretShapes(text.slice(0, 50 * SESSION_TITLE_CHARS));
  const line = beginning.split('\n').find((one) => /[\p{L}\p{N}]/u.test(one)) ?? '';
  const plain = inOneLine(line);
  if (plain === '') return null;
  if (plain.length <= SESSION_TITLE_CHARS) return plain;
  const cut = plain.slice(0, SESSION_TITLE_CHARS - 1);
  const space = cut.lastIndexOf(' ');
  return `${cut.slice(0, space > SESSION_TITLE_CHARS / 2 ? space : cut.length).toWellFormed()}…`;
};

/** A title as a model gave it, without what models like to put around one; null: it gave none. */
export const titleOfAnswer = (answer: string): string | null =>
  titleOf(answer.replaceAll(/["'`*#]/g, ''))?.replace(/\.$/, '') ?? null;
