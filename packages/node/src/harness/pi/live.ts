// What Pi tells of a model response or a tool while it is written. Pure.

import { z } from 'zod';
import type { LivePiece } from '../dialogue.ts';

/** Kinds of parts that the response that is written has already. */
export const written = z.array(z.enum(['text', 'thinking'])).default([]);
type Written = z.output<typeof written>;

const updateFrame = z.object({
  assistantMessageEvent: z.looseObject({ type: z.string(), delta: z.string().optional() }),
});
const toolUpdate = z.object({
  toolCallId: z.string(),
  partialResult: z.object({ content: z.array(z.looseObject({ type: z.string() })).catch([]) }),
});

/** What a frame adds to the row `row`, or to that of a tool. */
export const liveOf = (
  now: Written,
  { frame, row }: { readonly frame: unknown; readonly row: string },
): { readonly written: Written; readonly live: readonly LivePiece[] } => {
  const tool = toolUpdate.safeParse(frame).data;
  if (tool !== undefined) {
    const text = tool.partialResult.content.map((part) => (typeof part['text'] === 'string' ? part['text'] : '')).join('\n');
    return { written: now, live: [{ kind: 'tool.result', row: tool.toolCallId, text }] };
  }
  const event = updateFrame.safeParse(frame).data?.assistantMessageEvent;
  const [, kind, what] = /^(text|thinking)_(start|delta)$/.exec(event?.type ?? '') ?? [];
  if (kind !== 'text' && kind !== 'thinking') return { written: now, live: [] };
  if (what === 'delta') return { written: now, live: event?.delta === undefined ? [] : [{ kind, row, append: event.delta }] };
  // A second part of the same kind stands apart from the first, as in the whole.
  if (now.includes(kind)) return { written: now, live: [{ kind, row, append: '\n\n' }] };
  return { written: [...now, kind], live: [{ kind, row, text: '' }] };
};
