import { inert } from './inert.ts';
import type { Screen } from './screen.ts';
import type { Output } from './world.ts';

/** Lines below those that stay, written anew as a text grows; on a terminal alone. */
export type LiveBlock = {
  /** Shows the end of a text in the place of what was shown before. */
  show(text: string): void;
  /** Takes it away, so that lines that stay can be written. */
  clear(): void;
};

/** Lines that are shown of a text while it is written. */
const LINES = 8;
/** Characters of it that are looked at: more do not fit those lines. */
const TAIL_CHARS = 8_192;

/** Without a terminal nothing is written and the cursor is never moved. */
export const createLiveBlock = (output: Output, screen: Screen): LiveBlock => {
  let shown = 0;
  const clear = (): void => {
    if (shown > 0) output.write(`\r\u001b[2K${'\u001b[1A\u001b[2K'.repeat(shown - 1)}`);
    shown = 0;
  };
  return {
    clear,
    show: (text) => {
      if (!screen.live) return;
      const lines = inert(text.slice(-TAIL_CHARS))
        .replaceAll('\t', '  ')
        .trimEnd()
        .split('\n')
        .flatMap((line) => folded(line, screen.columns - 5))
        .slice(-LINES);
      clear();
      if (lines.length === 1 && lines[0] === '') return;
      output.write(lines.map((line) => `    ${screen.dim(line)}`).join('\n'));
      shown = lines.length;
    },
  };
};

/** A line in pieces that fit. What is not ASCII may take two columns: a line that the terminal breaks itself could not be taken away. */
const folded = (line: string, width: number): string[] => {
  const pieces = [''];
  let used = 0;
  for (const character of line) {
    const columns = character >= ' ' && character <= '~' ? 1 : 2;
    if (used + columns > width) {
      pieces.push('');
      used = 0;
    }
    pieces[pieces.length - 1] += character;
    used += columns;
  }
  return pieces;
};
