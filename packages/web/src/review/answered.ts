// A review that was sent, read back from its message, with what the agent said of each comment.

import type { TranscriptRow } from '@orrery/protocol';
import type { Comment } from './comments.ts';
import type { Line } from './lines.ts';

/** A comment that was sent, and the agent's words about it; null: it said none by its number. */
export type AnsweredComment = Comment & { readonly number: number; readonly answer: string | null };

/** A review that was sent. `words`: all the agent said after it; `sequence` is where it stands in a session. */
export type SentReview = {
  readonly comments: readonly AnsweredComment[];
  readonly words: string;
  readonly sequence: number | null;
};

const head = /^Review of the change from \w{1,40} to \w{1,40}: (\d{1,3}) comments?\. /;
const place = /^(\d{1,3})\. (.+):(\d{1,9})( \(before the change\))?$/;

/** The comments of a message that a review became; null: it is none. */
const commentsIn = (message: string): readonly (Comment & { readonly number: number })[] | null => {
  const count = Number(head.exec(message)?.[1] ?? 0);
  if (count === 0) return null;
  const lines = message.split('\n');
  const found: { at: number; comment: Omit<Comment, 'text'> }[] = [];
  for (let at = 1; at + 1 < lines.length && found.length < count; at++) {
    const [, number, path = '', line, before] = place.exec(lines[at] ?? '') ?? [];
    const quote = lines[at + 1] ?? '';
    // The number has to be the next one: what only looks like a comment stands in the words of another.
    if (Number(number) !== found.length + 1 || !quote.startsWith('> ')) continue;
    const side = before === undefined ? 'after' : 'before';
    found.push({ at, comment: { path: nameOf(path), side, line: Number(line), quote: quote.slice(2) } });
  }
  return found.map(({ at, comment }, index) => ({
    ...comment,
    number: index + 1,
    text: lines
      .slice(at + 2, found[index + 1]?.at)
      .join('\n')
      .trim(),
  }));
};

/** A path as it was written, which is JSON where it is not plain. */
const nameOf = (written: string): string => {
  if (!written.startsWith('"')) return written;
  try {
    const read: unknown = JSON.parse(written);
    return typeof read === 'string' ? read : written;
  } catch {
    return written;
  }
};

const numbered = /^\s{0,3}(?:[-*] )?(?:#{1,6} )?\**(?:comment )?#?(\d{1,3})\**[.):]\**(?:\s+|$)(.*)$/i;

/** What was said about each number up to `count`, the last time it was named. What is fenced as code names none. */
export const answersIn = (words: string, count: number): ReadonlyMap<number, string> => {
  const answers = new Map<number, string[]>();
  let [now, fenced, empty]: [string[] | null, boolean, boolean] = [null, false, false];
  for (const line of words.split('\n')) {
    const [, number, rest = ''] = fenced ? [] : (numbered.exec(line) ?? []);
    const named = number !== undefined && Number(number) >= 1 && Number(number) <= count;
    if (named) answers.set(Number(number), (now = [rest]));
    // A paragraph that is not set in is about the whole again.
    else if (!fenced && empty && /^\S/.test(line) && !line.startsWith('```')) now = null;
    else now?.push(line);
    if (line.trimStart().startsWith('```')) fenced = !fenced;
    empty = line.trim() === '';
  }
  return new Map([...answers].map(([number, lines]) => [number, lines.join('\n').trim()]));
};

/** The review that a message is, with what was said after it; null: the message is none. */
export const reviewIn = (message: string, words: string, sequence: number | null = null): SentReview | null => {
  const comments = commentsIn(message);
  if (comments === null || comments.length === 0) return null;
  const answers = answersIn(words, comments.length);
  return { comments: comments.map((one) => ({ ...one, answer: answers.get(one.number) ?? null })), words, sequence };
};

/** The reviews among rows of a transcript, the newest first. What is said goes with the words before it. */
export const reviewsIn = (rows: readonly TranscriptRow[]): readonly SentReview[] => {
  const said: { text: string; sequence: number; words: string[] }[] = [];
  for (const { firstSequence, event } of rows) {
    const { body } = event;
    if (body.kind === 'user') said.push({ text: body.text, sequence: firstSequence, words: [] });
    else if (body.kind === 'text') said.at(-1)?.words.push(body.text);
  }
  return said
    .map(({ text, sequence, words }) => reviewIn(text, words.join('\n\n'), sequence))
    .filter((review) => review !== null)
    .toReversed();
};

/** What says which line of a change one is. */
export const keyOfLine = ({ before, after }: Pick<Line, 'before' | 'after'>): string => `${before ?? ''}:${after ?? ''}`;

/** The comments at lines of their file as it is now, by the line. */
export const atLines = (
  comments: readonly AnsweredComment[],
  lines: readonly Line[],
): ReadonlyMap<string, readonly AnsweredComment[]> =>
  Map.groupBy(
    comments.filter((comment) => lineOf(comment, lines) !== null),
    (comment) => keyOfLine(lineOf(comment, lines)!),
  );

/** The line that a comment was about, among those of its file as they are now: the nearest that reads the same; null: it is gone. */
export const lineOf = (comment: Pick<Comment, 'side' | 'line' | 'quote'>, lines: readonly Line[]): Line | null => {
  const quoted = comment.quote.slice(1);
  const same = (line: Line): boolean =>
    line.kind !== 'note' && (quoted.endsWith('…') ? line.text.startsWith(quoted.slice(0, -1)) : line.text === quoted);
  const away = (line: Line): number => Math.abs((line[comment.side] ?? line.after ?? line.before ?? 0) - comment.line);
  return lines.filter(same).toSorted((one, other) => away(one) - away(other))[0] ?? null;
};
