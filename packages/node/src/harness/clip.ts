// Bodies stand in events up to a named size; what is longer is cut at a character and says how long it was.

import type { ConversationBody } from '@orrery/protocol';
import { INLINE_BODY_BYTES, INLINE_TEXT_BYTES } from './limits.ts';

const encoder = new TextEncoder();

/** Bytes of a text in UTF-8. */
export const byteLength = (text: string): number => Buffer.byteLength(text, 'utf8');

/** The text itself, or its beginning within `limit` bytes and a line that tells the whole size. Never cuts a character. */
export const clip = (text: string, limit: number): string => {
  // Four bytes a character is the most that UTF-8 takes, so short texts are not measured.
  if (text.length * 4 <= limit) return text;
  const bytes = byteLength(text);
  if (bytes <= limit) return text;
  return `${beginning(text, limit)}\n[cut: ${limit} of ${bytes} bytes shown]`;
};

/** The beginning of a text within `limit` bytes. Never cuts a character. */
export const beginning = (text: string, limit: number): string =>
  text.slice(0, encoder.encodeInto(text, new Uint8Array(limit)).read);

/** What a tool was given, as text: a text stays as it is, everything else becomes JSON. */
export const asText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

/** Of an event's large text: which one it is, and how much of it stands in the event; null: it has none. */
export const largeText = (
  body: ConversationBody,
): { readonly text: string; readonly limit: number; readonly with: (text: string) => ConversationBody } | null => {
  switch (body.kind) {
    case 'user':
    case 'text':
    case 'thinking':
      return { text: body.text, limit: INLINE_TEXT_BYTES, with: (text) => ({ ...body, text }) };
    case 'tool.call':
      return { text: body.input, limit: INLINE_BODY_BYTES, with: (input) => ({ ...body, input }) };
    case 'tool.result':
      return { text: body.output, limit: INLINE_BODY_BYTES, with: (output) => ({ ...body, output }) };
    default:
      return null;
  }
};

/** The event with the beginning of its large text alone, for logs that keep nothing beside. */
export const inlineBody = (body: ConversationBody): ConversationBody => {
  const large = largeText(body);
  const inline = large === null ? body : large.with(clip(large.text, large.limit));
  if (inline.kind !== 'tool.result' || inline.pictures === undefined) return inline;
  return { ...inline, pictures: inline.pictures.map((picture) => ({ ...picture, locator: null })) };
};
