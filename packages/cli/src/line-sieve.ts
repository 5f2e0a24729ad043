// Lines of a stream up to a length, for protocols of one message a line.
const LINE_FEED = 0x0a;

type Sieve = { push(bytes: Uint8Array): Uint8Array[] };

/** Lets lines through up to a length; a longer one is told once and left out. */
export const lineSieve = (most: number, onTooLong: () => void): Sieve => {
  let held: Uint8Array[] = [];
  let length = 0;
  let dropping = false;
  const take = (piece: Uint8Array): void => {
    length += piece.byteLength;
    if (length > most) {
      if (!dropping) onTooLong();
      dropping = true;
      held = [];
    }
    if (!dropping) held.push(piece);
  };
  const whole = (): Uint8Array[] => {
    const line = dropping ? [] : [Buffer.concat(held)];
    held = [];
    length = 0;
    dropping = false;
    return line;
  };
  return {
    push: (bytes) => {
      const lines: Uint8Array[] = [];
      let from = 0;
      for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, from)) {
        take(bytes.subarray(from, end + 1));
        lines.push(...whole());
        from = end + 1;
      }
      if (from < bytes.byteLength) take(bytes.slice(from));
      return lines;
    },
  };
};
