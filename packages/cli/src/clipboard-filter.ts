const ESCAPE = 0x1b;
const BELL = 0x07;
const BACKSLASH = 0x5c;
const START = Buffer.from('\u001b]52;', 'latin1');

/**
 * Takes out of a terminal's output what would write to or read the clipboard of the person (OSC 52): a program in an
 * environment gets no permission for that by printing. Everything else passes, byte for byte; sequences may be split over
 * pieces. `flush` gives what was held back.
 */
export const createClipboardFilter = (): { push(piece: Uint8Array): Uint8Array; flush(): Uint8Array } => {
  let matched = 0;
  let inside = false;
  let escaped = false;
  return {
    push(piece) {
      const out: number[] = [];
      for (const byte of piece) {
        if (inside) {
          if (byte === BELL || (escaped && byte === BACKSLASH)) inside = false;
          escaped = byte === ESCAPE;
          continue;
        }
        if (byte === START[matched]) {
          matched += 1;
          if (matched < START.length) continue;
          matched = 0;
          inside = true;
          escaped = false;
          continue;
        }
        out.push(...START.subarray(0, matched));
        matched = byte === START[0] ? 1 : 0;
        if (matched === 0) out.push(byte);
      }
      return Uint8Array.from(out);
    },
    flush() {
      const held = Uint8Array.from(START.subarray(0, matched));
      matched = 0;
      return held;
    },
  };
};
