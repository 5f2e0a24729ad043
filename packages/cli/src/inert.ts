// Text from outside is data: nothing of it may move the cursor, change colours or turn the reading direction.

const CONTROL = new RegExp(
  '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]',
  'g',
);
const ESCAPE = new RegExp('\\u001b(?:\\[[0-9;?]*[ -/]*[@-~]|\\][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)|[@-_])', 'g');

/** The text without terminal sequences, control characters and bidirectional marks; line feeds and tabs stay. */
export const inert = (text: string): string => text.replace(ESCAPE, '').replace(/\r\n/g, '\n').replace(CONTROL, '');

/** The same on one line. */
export const inertLine = (text: string): string => inert(text).replace(/\s+/g, ' ').trim();

// What JSON itself leaves unescaped. Escaped, it is the same value.
const JSON_CONTROL = new RegExp('[\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]', 'g');

/** A value as JSON in which a terminal finds nothing to obey: every control character and bidirectional mark is escaped. */
export const inertJson = (value: unknown): string =>
  JSON.stringify(value).replace(JSON_CONTROL, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
