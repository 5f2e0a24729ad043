// What of a program's output does not reach the person's terminal. Everything else passes, byte for byte; sequences may be
// split over pieces.

const ESCAPE = 0x1b;
const BELL = 0x07;
const BACKSLASH = 0x5c;
const CANCELS: readonly number[] = [0x18, 0x1a];

/** A sequence is held until it is known what it is: longer ones than this, of those that are looked for, there are not. */
const HEAD_BYTES = 64;

/** What a filter is asked: the kind of a sequence and its text, of a control string only the beginning. */
export type Sequence = { readonly kind: 'csi' | 'osc' | 'dcs'; readonly text: string };

export type TerminalFilter = {
  push(piece: Uint8Array): Uint8Array;
  /** What was held back. */
  flush(): Uint8Array;
};

/** Writes to the clipboard or reads it: a program gets no permission for that by printing. */
export const touchesClipboard = ({ kind, text }: Sequence): boolean =>
  kind === 'osc' && /^(52|5522)(;|$)|^1337;(Copy|PasteFrom|Clipboard)/i.test(text);

/**
 * Sets the clipboard to a text, and does nothing else with it: what a person may permit. Of the kinds there are, that of every
 * terminal (52) alone; a question, or what may still become one, is none.
 */
export const setsClipboard = ({ kind, text }: Sequence): boolean =>
  kind === 'osc' && /^52;[cpqs0-7]{0,8};[A-Za-z0-9+/=]+$/.test(text);

/**
 * Asks the terminal something. In output that is shown again nobody waits for the answer any more: it would be input that
 * nobody typed.
 */
export const asksTerminal = ({ kind, text }: Sequence): boolean => {
  switch (kind) {
    case 'csi':
      return /^([>=?]?[\d;]*c|\??[\d;]*n|\??[\d;]*\$p|\?u|>[\d;]*q|(1[1345689]|2[01])(;[\d;]*)?t|[\d;]*x)$/.test(text);
    case 'osc':
      return /^\d+(;\d+)*;\?/.test(text);
    case 'dcs':
      return /^[$+]q/.test(text);
  }
};

type State = 'text' | 'escape' | 'csi' | 'string' | 'passing' | 'dropping';

const STRINGS: Readonly<Record<number, 'osc' | 'dcs'>> = { 0x5d: 'osc', 0x50: 'dcs' };

/** Makes a filter that leaves out the sequences that `drops` names. */
export const createTerminalFilter = (drops: (sequence: Sequence) => boolean): TerminalFilter => {
  let state: State = 'text';
  let kind: Sequence['kind'] = 'csi';
  let held: number[] = [];
  let escaped = false;
  let out: number[] = [];

  const release = (next: State): void => {
    out.push(...held);
    held = [];
    state = next;
  };
  const headText = (): string => Buffer.from(held.slice(2)).toString('latin1');
  /** A control string of which enough is known. */
  const decide = (ended: boolean): void => {
    const drop = drops({ kind, text: headText().replace(/[\u0007\u001b].*$/s, '') });
    if (drop) held = [];
    release(ended ? 'text' : drop ? 'dropping' : 'passing');
  };
  const begin = (byte: number): void => {
    held = [byte];
    state = 'escape';
  };
  const inText = (byte: number): void => {
    if (byte === ESCAPE) begin(byte);
    else out.push(byte);
  };
  const inEscape = (byte: number): void => {
    if (byte === ESCAPE) {
      out.push(...held);
      return begin(byte);
    }
    held.push(byte);
    const string = STRINGS[byte];
    if (string === undefined && byte !== 0x5b) return release('text');
    kind = string ?? 'csi';
    state = string === undefined ? 'csi' : 'string';
    escaped = false;
  };
  const inCsi = (byte: number): void => {
    if (byte === ESCAPE) {
      out.push(...held);
      return begin(byte);
    }
    held.push(byte);
    const final = byte >= 0x40 && byte <= 0x7e;
    if (!final && held.length < HEAD_BYTES && !CANCELS.includes(byte)) return;
    if (final && drops({ kind, text: headText() })) held = [];
    release('text');
  };
  const inString = (byte: number): void => {
    const ends = byte === BELL || (escaped && byte === BACKSLASH);
    if (escaped && !ends && state !== 'string') {
      // An escape that ends nothing begins something else.
      begin(ESCAPE);
      return inEscape(byte);
    }
    if (state === 'string') {
      if (escaped && !ends) {
        const [last] = held.splice(-1);
        decide(true);
        begin(last ?? ESCAPE);
        return inEscape(byte);
      }
      held.push(byte);
      if (ends || CANCELS.includes(byte)) return decide(true);
      escaped = byte === ESCAPE;
      if (held.length >= HEAD_BYTES && !escaped) decide(false);
      return;
    }
    if (state === 'passing' && byte !== ESCAPE) out.push(...(escaped ? [ESCAPE, byte] : [byte]));
    escaped = byte === ESCAPE;
    if (ends || CANCELS.includes(byte)) state = 'text';
  };

  const take = (byte: number): void => {
    if (state === 'text') inText(byte);
    else if (state === 'escape') inEscape(byte);
    else if (state === 'csi') inCsi(byte);
    else inString(byte);
  };
  return {
    push(piece) {
      // Most pieces are plain text.
      if (state === 'text' && !piece.includes(ESCAPE)) return piece;
      out = [];
      for (const byte of piece) take(byte);
      return Uint8Array.from(out);
    },
    flush() {
      const unwanted = state === 'dropping' || (state === 'string' && drops({ kind, text: headText() }));
      const rest = state === 'passing' && escaped ? [ESCAPE] : unwanted ? [] : held;
      held = [];
      state = 'text';
      return Uint8Array.from(rest);
    },
  };
};
