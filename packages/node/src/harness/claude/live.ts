// What Claude Code tells of a model response while it is written (`--include-partial-messages`). Pure.

import { z } from 'zod';
import type { LivePiece } from '../dialogue.ts';

/** The response that is being written, and the kind of its block. */
export const writing = z.object({ message: z.string(), kind: z.enum(['text', 'thinking']).nullable() });
type Writing = z.output<typeof writing>;

/** `stream_event`: an event of the model's stream, as it came. */
const streamFrame = z.object({
  parent_tool_use_id: z.string().nullish(),
  event: z.looseObject({
    type: z.string(),
    message: z.object({ id: z.string() }).optional(),
    content_block: z.looseObject({ type: z.string() }).optional(),
    delta: z.looseObject({ text: z.string().optional(), thinking: z.string().optional() }).optional(),
  }),
});

type Told = { readonly writing: Writing | null; readonly live: readonly LivePiece[] };

/** What an event adds to the row that is written; `before` is what the response's earlier blocks said. Sub-agents' responses are told when they are whole. */
export const liveOf = (
  now: Writing | null,
  frame: unknown,
  before: { readonly id: string; readonly text: string; readonly thinking: string },
): Told => {
  const { data } = streamFrame.safeParse(frame);
  if (data === undefined || data.parent_tool_use_id != null) return { writing: now, live: [] };
  const { event } = data;
  switch (event.type) {
    case 'message_start':
      return { writing: event.message === undefined ? null : { message: event.message.id, kind: null }, live: [] };
    case 'content_block_start':
      return blockStart(now, event.content_block?.type, before);
    case 'content_block_delta': {
      const append = now?.kind === 'text' ? event.delta?.text : now?.kind === 'thinking' ? event.delta?.thinking : undefined;
      const live: readonly LivePiece[] =
        now?.kind == null || append === undefined ? [] : [{ kind: now.kind, row: now.message, append }];
      return { writing: now, live };
    }
    default:
      return { writing: now, live: [] };
  }
};

const blockStart = (now: Writing | null, type: string | undefined, before: Parameters<typeof liveOf>[2]): Told => {
  if (now === null || (type !== 'text' && type !== 'thinking'))
    return { writing: now === null ? null : { ...now, kind: null }, live: [] };
  const said = before.id === now.message ? before[type] : '';
  const text = said === '' ? '' : `${said}\n\n`;
  return { writing: { ...now, kind: type }, live: [{ kind: type, row: now.message, text }] };
};
