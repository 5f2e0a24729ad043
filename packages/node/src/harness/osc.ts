// What a program says to its terminal beside what is drawn: control strings (OSC) and the bell. Bytes may come in any pieces.

const BELL = 0x07;
const ESCAPE = 0x1b;
const BRACKET = 0x5d;
const BACKSLASH = 0x5c;
const CANCEL = 0x18;
const SUBSTITUTE = 0x1a;

/** Longest control string that is read; of a longer one nothing is taken. */
const STRING_BYTES = 4096;

/** One of them: the text of an OSC without its frame (`0;title`), or the bell. */
export type TerminalWord = { readonly kind: 'osc'; readonly text: string } | { readonly kind: 'bell' };

/** Where a reader is between two pieces; JSON. */
export type OscPosition = { readonly at: 'text' | 'escape' | 'string' | 'string-escape'; readonly held: string };

export const oscStart: OscPosition = { at: 'text', held: '' };

/** Reads a piece. */
export const readOsc = (
  from: OscPosition,
  bytes: Uint8Array,
): { readonly words: readonly TerminalWord[]; readonly position: OscPosition } => {
  const words: TerminalWord[] = [];
  let { at } = from;
  const held: number[] = [...Buffer.from(from.held, 'base64')];
  const close = (): void => {
    if (held.length <= STRING_BYTES) words.push({ kind: 'osc', text: Buffer.from(held).toString('utf8') });
    held.length = 0;
    at = 'text';
  };
  const drop = (next: OscPosition['at']): void => {
    held.length = 0;
    at = next;
  };
  for (const byte of bytes) {
    if (at === 'text') {
      if (byte === ESCAPE) at = 'escape';
      else if (byte === BELL) words.push({ kind: 'bell' });
    } else if (at === 'escape') at = byte === BRACKET ? 'string' : byte === ESCAPE ? 'escape' : 'text';
    else if (at === 'string-escape' && byte !== BACKSLASH) drop(byte === BRACKET ? 'string' : 'text');
    else if (byte === BELL || at === 'string-escape') close();
    else if (byte === ESCAPE) at = 'string-escape';
    else if (byte === CANCEL || byte === SUBSTITUTE) drop('text');
    else if (held.length <= STRING_BYTES) held.push(byte);
  }
  return { words, position: { at, held: Buffer.from(held).toString('base64') } };
};
