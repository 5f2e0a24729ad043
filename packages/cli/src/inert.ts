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
