// Lines of Git's protocol: four digits of length, then the text; 0000 ends a list.
import { PKT_LINES } from './limits.ts';

/** One line, with its length before it. */
export const pktLine = (text: string): string => (Buffer.byteLength(text) + 4).toString(16).padStart(4, '0') + text;

/** What ends a list. */
export const FLUSH = '0000';

/** Lines of an answer; null stands where a list ends. Throws when it is not made of lines, or of too many. */
export const readPktLines = (answer: Buffer): (Buffer | null)[] => {
  const lines: (Buffer | null)[] = [];
  for (let at = 0; at < answer.length;) {
    if (lines.length >= PKT_LINES) throw new Error(`it answered more than ${PKT_LINES} lines`);
    const digits = answer.toString('latin1', at, at + 4);
    const length = /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : Number.NaN;
    if (length === 0) {
      lines.push(null);
      at += 4;
      continue;
    }
    if (!(length >= 4) || at + length > answer.length) throw new Error('it is not made of lines of Git’s protocol');
    lines.push(answer.subarray(at + 4, at + length));
    at += length;
  }
  return lines;
};
