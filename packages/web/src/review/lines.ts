// A hunk as lines with their numbers, one under the other or side by side.

import type { Hunk } from '@orrery/protocol';

/** Whose line it is: of the file before, of the file after, or of both. */
export type Line = {
  readonly kind: 'same' | 'added' | 'removed' | 'note';
  readonly text: string;
  readonly before: number | null;
  readonly after: number | null;
};

/** The lines of a hunk with their numbers. */
export const linesOf = (hunk: Pick<Hunk, 'oldStart' | 'newStart' | 'lines'>): readonly Line[] => {
  let [before, after] = [hunk.oldStart, hunk.newStart];
  return hunk.lines.map((line) => {
    const text = line.slice(1);
    if (line.startsWith('+')) return { kind: 'added', text, before: null, after: after++ };
    if (line.startsWith('-')) return { kind: 'removed', text, before: before++, after: null };
    if (line.startsWith('\\')) return { kind: 'note', text: text.trim(), before: null, after: null };
    return { kind: 'same', text, before: before++, after: after++ };
  });
};

/** What stands beside each other; null: nothing on that side. */
export type Pair = { readonly left: Line | null; readonly right: Line | null };

/** Side by side: what was removed stands beside what was added in its place. */
export const pairsOf = (lines: readonly Line[]): readonly Pair[] => {
  const pairs: Pair[] = [];
  let [removed, added]: [Line[], Line[]] = [[], []];
  const flush = (): void => {
    for (let at = 0; at < Math.max(removed.length, added.length); at++)
      pairs.push({ left: removed[at] ?? null, right: added[at] ?? null });
    [removed, added] = [[], []];
  };
  let last: Line['kind'] = 'same';
  for (const line of lines) {
    // A note is about the line over it, and stands on its side.
    const kind: Line['kind'] = line.kind === 'note' ? last : line.kind;
    if (kind === 'removed') removed.push(line);
    else if (kind === 'added') added.push(line);
    else {
      flush();
      pairs.push({ left: line, right: line });
    }
    last = kind;
  }
  flush();
  return pairs;
};
