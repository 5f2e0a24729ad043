// What is being written: text and the place of the cursor, in graphemes. Pure.

import { graphemes } from './cells.ts';

export type Composer = {
  readonly text: readonly string[];
  /** Graphemes before the cursor. */
  readonly cursor: number;
  /** What was cut last, to be put back. */
  readonly killed: string;
};

/** Graphemes of one input; more is not taken. */
export const COMPOSER_GRAPHEMES = 200_000;

export const emptyComposer: Composer = { text: [], cursor: 0, killed: '' };

export const textOf = ({ text }: Composer): string => text.join('');
export const isEmpty = ({ text }: Composer): boolean => text.length === 0;

/** The composer with this text, the cursor at its end. */
export const withText = (composer: Composer, text: string): Composer => {
  const all = graphemes(text);
  return { ...composer, text: all, cursor: all.length };
};

/** Text at the cursor. What joins with its neighbours (an accent, a part of an emoji) is one grapheme with them afterwards. */
export const insert = (composer: Composer, added: string): Composer => {
  const { text, cursor } = composer;
  if (text.length + added.length > COMPOSER_GRAPHEMES) return composer;
  const before = text.slice(0, cursor).join('') + added;
  return { ...composer, text: graphemes(before + text.slice(cursor).join('')), cursor: graphemes(before).length };
};

const startOfLine = ({ text, cursor }: Composer): number => (cursor === 0 ? 0 : text.lastIndexOf('\n', cursor - 1) + 1);
const endOfLine = ({ text, cursor }: Composer): number => {
  const end = text.indexOf('\n', cursor);
  return end === -1 ? text.length : end;
};

const isWord = (one: string | undefined): boolean => one !== undefined && /[\p{L}\p{N}\p{M}_]/u.test(one);

const wordBefore = ({ text, cursor }: Composer): number => {
  let at = cursor;
  while (at > 0 && !isWord(text[at - 1])) at -= 1;
  while (at > 0 && isWord(text[at - 1])) at -= 1;
  return at;
};
const wordAfter = ({ text, cursor }: Composer): number => {
  let at = cursor;
  while (at < text.length && !isWord(text[at])) at += 1;
  while (at < text.length && isWord(text[at])) at += 1;
  return at;
};
/** Like a shell: back to the last space. */
const spaceBefore = ({ text, cursor }: Composer): number => {
  let at = cursor;
  while (at > 0 && /\s/.test(text[at - 1] ?? '')) at -= 1;
  while (at > 0 && !/\s/.test(text[at - 1] ?? '')) at -= 1;
  return at;
};

const remove = (composer: Composer, from: number, to: number): Composer => ({
  ...composer,
  text: [...composer.text.slice(0, from), ...composer.text.slice(to)],
  cursor: from,
});
const kill = (composer: Composer, from: number, to: number): Composer =>
  from === to ? composer : { ...remove(composer, from, to), killed: composer.text.slice(from, to).join('') };

const moveTo = (composer: Composer, cursor: number): Composer => ({
  ...composer,
  cursor: Math.max(0, Math.min(composer.text.length, cursor)),
});

/** One line up or down in the same column; the same composer when there is none. */
const vertical = (composer: Composer, step: -1 | 1): Composer => {
  const start = startOfLine(composer);
  const column = composer.cursor - start;
  if (step === -1) {
    if (start === 0) return composer;
    const above = startOfLine(moveTo(composer, start - 1));
    return moveTo(composer, Math.min(above + column, start - 1));
  }
  const end = endOfLine(composer);
  if (end === composer.text.length) return composer;
  const below = moveTo(composer, end + 1);
  return moveTo(composer, Math.min(end + 1 + column, endOfLine(below)));
};

/** What keys do to a text. */
export const edits = {
  left: (composer) => moveTo(composer, composer.cursor - 1),
  right: (composer) => moveTo(composer, composer.cursor + 1),
  up: (composer) => vertical(composer, -1),
  down: (composer) => vertical(composer, 1),
  wordLeft: (composer) => moveTo(composer, wordBefore(composer)),
  wordRight: (composer) => moveTo(composer, wordAfter(composer)),
  lineStart: (composer) => moveTo(composer, startOfLine(composer)),
  lineEnd: (composer) => moveTo(composer, endOfLine(composer)),
  backspace: (composer) => (composer.cursor === 0 ? composer : remove(composer, composer.cursor - 1, composer.cursor)),
  delete: (composer) =>
    composer.cursor === composer.text.length ? composer : remove(composer, composer.cursor, composer.cursor + 1),
  killToStart: (composer) => kill(composer, startOfLine(composer), composer.cursor),
  killToEnd: (composer) => {
    const end = endOfLine(composer);
    // At the end of a line its end is taken.
    return kill(composer, composer.cursor, end === composer.cursor && end < composer.text.length ? end + 1 : end);
  },
  killSpaceWord: (composer) => kill(composer, spaceBefore(composer), composer.cursor),
  killWord: (composer) => kill(composer, wordBefore(composer), composer.cursor),
  killWordAfter: (composer) => kill(composer, composer.cursor, wordAfter(composer)),
  yank: (composer) => insert(composer, composer.killed),
} satisfies Record<string, (composer: Composer) => Composer>;

export type Edit = keyof typeof edits;

/** A backslash before the cursor at Enter: a new line instead of sending. */
export const continuesLine = ({ text, cursor }: Composer): boolean => cursor > 0 && text[cursor - 1] === '\\';
