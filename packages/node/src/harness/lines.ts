// Glossary. A line ends in LF or CRLF. A line past the limit is skipped to its end ("resync") and told once. The offset
// of a splitter counts consumed bytes only, so that reading can start again there.

/** A whole line, or the news that one was too long. */
export type Line = { readonly kind: 'line'; readonly text: string } | { readonly kind: 'too-long'; readonly bytes: number };

/** Splits a stream of bytes; works on bytes, so that a character cut in two by the transport stays whole. */
export type LineSplitter = {
  /** Takes in bytes and answers the lines that are complete now. */
  push(bytes: Uint8Array): readonly Line[];
  /** The stream ended: what is left without a line end, or null. */
  rest(): Line | null;
  /** Bytes consumed since the start of the stream. Bytes of an unfinished line are not consumed; those of a line being skipped are. */
  offset(): number;
  /** Bytes skipped so far of a line that is too long; 0 when none is being skipped. */
  skipped(): number;
};

export type LineSplitterOptions = { readonly maxLineBytes: number; readonly offset: number; readonly skipped: number };

const LF = 10;
const CR = 13;

/**
 * Makes a splitter that continues at a committed offset. `skipped` is what `skipped()` said there.
 * Bytes that are no UTF-8 become U+FFFD; NUL bytes around a line are dropped, as terminals and pre-allocated logs leave them.
 */
export const createLineSplitter = (options: LineSplitterOptions): LineSplitter => {
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  let consumed = options.offset;
  let skipped = options.skipped;

  const keep = (bytes: Uint8Array): void => {
    if (bytes.length === 0) return;
    if (skipped === 0 && pendingBytes + bytes.length <= options.maxLineBytes) {
      pending.push(bytes);
      pendingBytes += bytes.length;
      return;
    }
    skipped += pendingBytes + bytes.length;
    consumed += pendingBytes + bytes.length;
    pending = [];
    pendingBytes = 0;
  };

  const finish = (lineEnd: number): Line => {
    const bytes = skipped;
    consumed += pendingBytes + lineEnd;
    const line: Line = bytes > 0 ? { kind: 'too-long', bytes } : { kind: 'line', text: decode(pending, pendingBytes) };
    pending = [];
    pendingBytes = 0;
    skipped = 0;
    return line;
  };

  return {
    push(bytes) {
      const lines: Line[] = [];
      let from = 0;
      for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, from)) {
        keep(bytes.subarray(from, at));
        lines.push(finish(1));
        from = at + 1;
      }
      // The caller may use its buffer again: what is kept beyond this call is a copy.
      keep(bytes.slice(from));
      return lines;
    },
    rest: () => (pendingBytes === 0 && skipped === 0 ? null : finish(0)),
    offset: () => consumed,
    skipped: () => skipped,
  };
};

const decode = (parts: readonly Uint8Array[], length: number): string => {
  const whole = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts, length);
  let start = 0;
  let end = whole.length;
  if (end > start && whole[end - 1] === CR) end -= 1;
  while (start < end && whole[start] === 0) start += 1;
  while (end > start && whole[end - 1] === 0) end -= 1;
  return new TextDecoder('utf-8', { ignoreBOM: false }).decode(whole.subarray(start, end));
};
