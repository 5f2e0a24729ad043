// Lines of a program as frames, and the news about those that nobody knows.

import type { ConversationBody } from '@orrery/protocol';
import { clip } from './clip.ts';
import { INLINE_NOTICE_BYTES, MAX_DRIFT_KINDS } from './limits.ts';

/** A notice of bounded length. */
export const noticeOf = (level: 'info' | 'warning' | 'error', text: string): ConversationBody => ({
  kind: 'notice',
  level,
  text: clip(text, INLINE_NOTICE_BYTES),
});

/** Counts a frame nobody knows; the first of its kind is said. */
export const countDrift = (
  drift: Readonly<Record<string, number>>,
  { program, name }: { readonly program: string; readonly name: string },
): { readonly drift: Readonly<Record<string, number>>; readonly events: readonly ConversationBody[] } => {
  const known = drift[name] !== undefined;
  const as = known || Object.keys(drift).length < MAX_DRIFT_KINDS ? name : 'others';
  const events =
    known || as === 'others' ? [] : [noticeOf('info', `${program} said something this adapter does not know: ${name}.`)];
  return { drift: { ...drift, [as]: (drift[as] ?? 0) + 1 }, events };
};

/** The JSON object of a line, or null when it is none. */
export const parseFrame = (text: string): Readonly<Record<string, unknown>> | null => {
  if (!text.trimStart().startsWith('{')) return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
};
