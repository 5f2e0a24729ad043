// Comments on lines, kept in this browser until they are sent, and the one message they become.

/** Comments that are collected before they are sent. */
export const MAX_COMMENTS = 100;
/** Signs of one comment. */
export const MAX_COMMENT_CHARS = 4_000;
/** Signs of a quoted line: the agent has the file. */
const MAX_QUOTE_CHARS = 400;

/** One comment. `side`: the number counts in the file before, or after. */
export type Comment = {
  readonly path: string;
  readonly side: 'before' | 'after';
  readonly line: number;
  /** The line it is about, with its mark. */
  readonly quote: string;
  readonly text: string;
};

/** Whether two stand at the same line. */
export const isAt = (comment: Comment, place: Pick<Comment, 'path' | 'side' | 'line'>): boolean =>
  comment.path === place.path && comment.side === place.side && comment.line === place.line;

/** With one more, or in place of the one at its line; without words it is taken away. At most 100 are kept. */
export const withComment = (comments: readonly Comment[], comment: Comment): readonly Comment[] => {
  const others = comments.filter((one) => !isAt(one, comment));
  if (comment.text.trim() === '') return others;
  return [...others, { ...comment, text: comment.text.slice(0, MAX_COMMENT_CHARS) }].slice(0, MAX_COMMENTS);
};

const plain = (name: string): string => (/^[\w./@+ -]+$/.test(name) ? name : JSON.stringify(name));

/** The message to the agent: words about all of it, then each comment with file and line, and what it is about as a quotation. */
export const messageOf = (
  comments: readonly Comment[],
  { baseSha, headSha }: { readonly baseSha: string; readonly headSha: string },
  words = '',
): string => {
  const ordered = comments.toSorted((one, other) => one.path.localeCompare(other.path) || one.line - other.line);
  const parts = ordered.map(({ path, side, line, quote, text }, place) =>
    [
      `${place + 1}. ${plain(path)}:${line}${side === 'before' ? ' (before the change)' : ''}`,
      `> ${quote.length > MAX_QUOTE_CHARS ? `${quote.slice(0, MAX_QUOTE_CHARS)}…` : quote}`,
      text.trim(),
    ].join('\n'),
  );
  const count = comments.length === 1 ? '1 comment' : `${comments.length} comments`;
  const head = `Review of the change from ${baseSha.slice(0, 12)} to ${headSha.slice(0, 12)}: ${count}. What stands behind ">" is quoted from the change. Say what you did about each by its number.`;
  return [head, words.trim(), ...parts].filter((part) => part !== '').join('\n\n');
};

const isComment = (value: unknown): value is Comment => {
  const { path, side, line, quote, text } = (value ?? {}) as Record<string, unknown>;
  return (
    [path, quote, text].every((one) => typeof one === 'string') &&
    typeof line === 'number' &&
    (side === 'before' || side === 'after')
  );
};

/** What was kept for a review; what does not read is left out. */
export const readComments = (storage: Pick<Storage, 'getItem'>, key: string): readonly Comment[] => {
  try {
    const kept: unknown = JSON.parse(storage.getItem(key) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isComment).slice(0, MAX_COMMENTS) : [];
  } catch {
    return [];
  }
};

/** Keeps them. A browser that keeps nothing has them until the page is left. */
export const keepComments = (
  storage: Pick<Storage, 'setItem' | 'removeItem'>,
  key: string,
  comments: readonly Comment[],
): void => {
  try {
    if (comments.length === 0) storage.removeItem(key);
    else storage.setItem(key, JSON.stringify(comments));
  } catch {
    // Full, or switched off by its owner.
  }
};
