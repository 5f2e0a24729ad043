// What an agent writes has the marks of Markdown: they become headings, lists and code. It stays text: no link, picture or
// markup of it does anything. Reading costs what the text has, whatever is in it. Pure.

/** A stretch of a line. */
export type Span = { readonly look: 'plain' | 'code' | 'strong'; readonly text: string };

/** A part of what was said, from top to bottom. */
export type Block =
  | { readonly kind: 'words'; readonly text: string }
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | { readonly kind: 'code'; readonly language: string; readonly text: string }
  | { readonly kind: 'item'; readonly depth: number; readonly mark: string; readonly text: string }
  | { readonly kind: 'quote'; readonly text: string }
  | { readonly kind: 'table'; readonly text: string }
  | { readonly kind: 'line' };

/** Levels of a list that are drawn; what is deeper stands with them. */
const MAX_DEPTH = 6;

type Open = Extract<Block, { kind: 'words' | 'quote' | 'table' }>['kind'];

/** The parts of a text. A fence that is not closed yet is code: it is still being written. */
export const blocksOf = (text: string): readonly Block[] => {
  const blocks: Block[] = [];
  let lines: string[] = [];
  let open: Open | null = null;
  const close = (): void => {
    if (open !== null && lines.length > 0) blocks.push({ kind: open, text: lines.join('\n') });
    [open, lines] = [null, []];
  };
  const add = (kind: Open, line: string): void => {
    if (open !== kind) close();
    open = kind;
    lines.push(line);
  };
  const all = text.split('\n');
  for (let at = 0; at < all.length; at++) {
    const line = all[at] ?? '';
    const fence = fenceOf(line);
    if (fence !== null) {
      close();
      const end = endOfFence(all, { at, mark: fence.mark });
      blocks.push({ kind: 'code', language: fence.language, text: all.slice(at + 1, end).join('\n') });
      at = end;
      continue;
    }
    const alone = aloneOf(line);
    if (alone !== null) {
      close();
      blocks.push(alone);
    } else if (line.trim() === '') close();
    else if (line.startsWith('>')) add('quote', line.replace(/^> ?/, ''));
    else if (line.startsWith('|')) add('table', line);
    else add('words', line);
  }
  close();
  return blocks;
};

const fenceOf = (line: string): { readonly mark: string; readonly language: string } | null => {
  const found = /^ {0,3}(`{3,}|~{3,})([^`]*)$/.exec(line);
  return found === null ? null : { mark: found[1] ?? '', language: (found[2] ?? '').trim().slice(0, 40) };
};

const endOfFence = (all: readonly string[], { at, mark }: { readonly at: number; readonly mark: string }): number => {
  for (let end = at + 1; end < all.length; end++) {
    const line = (all[end] ?? '').trim();
    if (line.startsWith(mark) && line.replaceAll(mark.slice(0, 1), '') === '') return end;
  }
  return all.length;
};

/** A line that is a part by itself. */
const aloneOf = (line: string): Block | null => {
  const heading = /^(#{1,6}) +(\S.*)$/.exec(line);
  if (heading !== null) return { kind: 'heading', level: heading[1]?.length ?? 1, text: heading[2] ?? '' };
  if (/^ {0,3}(?:-{3,}|\*{3,}|_{3,})\s*$/.test(line)) return { kind: 'line' };
  const item = /^(\s*)([-*+]|\d{1,9}[.)]) +(\S.*)$/.exec(line);
  if (item === null) return null;
  const [, indent = '', mark = '', text = ''] = item;
  const depth = Math.min(MAX_DEPTH, Math.floor(indent.replaceAll('\t', '  ').length / 2));
  return { kind: 'item', depth, mark: /\d/.test(mark) ? mark : '•', text };
};

const marks = [
  ['`', 'code'],
  ['**', 'strong'],
] as const;

/** The stretches of a text: code and what is strong. A mark that nothing closes stays what it is. */
export const spansOf = (text: string): readonly Span[] => {
  const spans: Span[] = [];
  // Looked for once: behind a place without a closing mark there is none for later ones either.
  const closed = new Map<string, boolean>();
  let from = 0;
  for (let at = 0; at < text.length;) {
    const found = marks.find(([mark]) => closed.get(mark) !== false && text.startsWith(mark, at));
    const end = found === undefined ? -1 : text.indexOf(found[0], at + found[0].length);
    if (found === undefined || end === -1) {
      if (found !== undefined) closed.set(found[0], false);
      at += found?.[0].length ?? 1;
      continue;
    }
    const [mark, look] = found;
    const inner = text.slice(at + mark.length, end);
    if (inner.trim() === '' || (look === 'strong' && inner !== inner.trim())) {
      at += mark.length;
      continue;
    }
    if (at > from) spans.push({ look: 'plain', text: text.slice(from, at) });
    spans.push({ look, text: inner });
    at = end + mark.length;
    from = at;
  }
  if (from < text.length) spans.push({ look: 'plain', text: text.slice(from) });
  return spans;
};
