// The patch of one file, hunk by hunk. Bytes are kept as they are (latin1), so that a part of it can be applied again.

/** One hunk, its lines with their marks, as bytes. */
export type RawHunk = {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly section: string;
  readonly lines: readonly string[];
};

/** A patch of one file. `head`: the lines before the first hunk. */
export type FilePatch = { readonly head: readonly string[]; readonly hunks: readonly RawHunk[] };

/** Names a hunk within its file: no two begin at the same lines. */
export const hunkKey = ({ oldStart, newStart }: Pick<RawHunk, 'oldStart' | 'newStart'>): string => `${oldStart}-${newStart}`;

const opening = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/s;

/** Reads the patch of one file, in latin1. What its counts promise and does not come (the patch was cut) is left out. Pure. */
export const readFilePatch = (patch: string): FilePatch => {
  const lines = patch.split('\n');
  // Behind the last line end, or a line that was cut.
  lines.pop();
  const first = lines.findIndex((line) => line.startsWith('@@ '));
  if (first === -1) return { head: lines, hunks: [] };
  const hunks: RawHunk[] = [];
  for (let at = first; at < lines.length;) {
    const found = opening.exec(lines[at] ?? '');
    // A file that became a link, or the other way, is two changes.
    if (found === null) {
      at += 1;
      continue;
    }
    const [, oldStart = '0', oldLines = '1', newStart = '0', newLines = '1', section = ''] = found;
    const counts = { oldLines: Number(oldLines), newLines: Number(newLines) };
    const body = bodyOf(lines, at + 1, counts);
    at += 1 + body.length;
    hunks.push({ oldStart: Number(oldStart), newStart: Number(newStart), ...counts, section, lines: body });
  }
  return { head: lines.slice(0, first), hunks };
};

/** The lines of a hunk by its counts: a line of a file may look like the beginning of another hunk. */
const bodyOf = (lines: readonly string[], from: number, counts: { oldLines: number; newLines: number }): string[] => {
  let [before, after] = [counts.oldLines, counts.newLines];
  let at = from;
  for (; at < lines.length && (before > 0 || after > 0); at++) {
    const mark = lines[at]?.[0];
    if (mark === '-' || mark === ' ') before -= 1;
    if (mark === '+' || mark === ' ') after -= 1;
  }
  if (lines[at]?.startsWith('\\') === true) at += 1;
  return lines.slice(from, at);
};

/** One hunk as it stands in a patch, in latin1. */
export const hunkText = ({ oldStart, oldLines, newStart, newLines, lines }: RawHunk): string =>
  `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@\n${lines.map((line) => `${line}\n`).join('')}`;
