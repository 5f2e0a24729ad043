// What a session's event is folded by and found by.

import { createHash } from 'node:crypto';
import type { EventBody } from '@orrery/protocol';
import { ROW_NAME_CHARS, SEARCH_ROW_CHARS } from '../../kernel/limits.ts';

/** The row that an event is a revision of; null: it stands alone. A name from a program is of any length: a long one is known by its hash. */
export const rowOf = (body: EventBody): string | null => {
  if (!('row' in body)) return null;
  const name = body.row.length <= ROW_NAME_CHARS ? body.row : createHash('sha256').update(body.row).digest('hex');
  return `${body.kind} ${name}`;
};

/** The words an event is found by: what people and agents said, and what tools were told. What tools printed and what models think is not. */
export const wordsOf = (body: EventBody): string | null => {
  switch (body.kind) {
    case 'user':
    case 'text':
      return bounded(body.text);
    case 'tool.call':
      return bounded(`${body.tool} ${body.input}`);
    default:
      return null;
  }
};

/** Characters that mark a found word in a snippet; they are never part of what is indexed. */
export const FOUND = { begin: '\u0001', end: '\u0002' } as const;

const MARKS = new RegExp(`[\\u0000${FOUND.begin}${FOUND.end}]`, 'g');

const bounded = (text: string): string => text.slice(0, SEARCH_ROW_CHARS).replace(MARKS, ' ').toWellFormed();
