import { OrreryError } from '@orrery/protocol/errors';

/** One frame of a server-sent event stream. */
export type Frame = { readonly event: string; readonly id: string | null; readonly data: string };

/**
 * Reads frames out of text that arrives in any pieces (HTML Living Standard, 9.2.6). Only whole frames come out: what follows
 * the last empty line waits for more and is dropped with the connection. Comments are answered as no frame. A frame above
 * `maxChars` is refused with `input_too_large`.
 */
export const createFrameReader = (maxChars: number): { push(text: string): Frame[] } => {
  let rest = '';
  let fields = emptyFields();
  let size = 0;
  const takeLine = (line: string): Frame | null => {
    size += line.length;
    if (line === '') {
      const frame = fields.lines.length === 0 ? null : { event: fields.event, id: fields.id, data: fields.lines.join('\n') };
      fields = emptyFields();
      size = 0;
      return frame;
    }
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'data') fields.lines.push(value);
    if (name === 'event') fields.event = value;
    if (name === 'id') fields.id = value;
    return null;
  };
  return {
    push: (text) => {
      rest += text;
      const frames: Frame[] = [];
      // A carriage return at the very end may be the first half of a line end: it waits.
      for (let match = /\r\n|\n|\r(?!$)/.exec(rest); match !== null; match = /\r\n|\n|\r(?!$)/.exec(rest)) {
        const frame = takeLine(rest.slice(0, match.index));
        rest = rest.slice(match.index + match[0].length);
        if (frame !== null) frames.push(frame);
      }
      if (size + rest.length > maxChars)
        throw new OrreryError('input_too_large', 'The node sent an event that is too large.', {
          rule: `One event has at most ${maxChars} characters.`,
        });
      return frames;
    },
  };
};

const emptyFields = (): { event: string; id: string | null; lines: string[] } => ({ event: 'message', id: null, lines: [] });
