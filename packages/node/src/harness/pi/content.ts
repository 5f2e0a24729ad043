// What Pi tells beside words and tools: how full its window is, and that it summed up. Pure.

import type { ConversationBody } from '@orrery/protocol';
import { z } from 'zod';
import { assistantMessage } from './wire.ts';

/** How full the window is, as it counted last. */
export const piContent = z.object({ used: z.int().nullable(), window: z.int().nullable() }).default({ used: null, window: null });
export type PiContent = z.output<typeof piContent>;

const messageEnd = z.object({
  type: z.literal('message_end'),
  message: assistantMessage.extend({ role: z.literal('assistant') }),
});
const compactionEnd = z.object({
  type: z.literal('compaction_end'),
  reason: z.string(),
  result: z.object({ tokensBefore: z.int().nullish(), estimatedTokensAfter: z.int().nullish() }),
});

/** One frame of a turn; whatever it is not about is left as it is. */
export const hearContent = (
  content: PiContent,
  value: Readonly<Record<string, unknown>>,
): { readonly content: PiContent; readonly events: readonly ConversationBody[] } => {
  switch (value['type']) {
    case 'message_end': {
      const usage = messageEnd.safeParse(value).data?.message.usage;
      const used = usage == null ? 0 : usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
      return { content: used === 0 ? content : { ...content, used }, events: [] };
    }
    case 'compaction_end':
      return onCompacted(content, value);
    case 'agent_settled':
      return { content, events: contextRows(content) };
    default:
      return { content, events: [] };
  }
};

const onCompacted = (content: PiContent, value: unknown): ReturnType<typeof hearContent> => {
  const told = compactionEnd.safeParse(value).data;
  if (told === undefined) return { content, events: [] };
  const afterTokens = told.result.estimatedTokensAfter ?? null;
  const next = { ...content, used: afterTokens ?? content.used };
  const trigger = told.reason === 'manual' ? 'manual' : 'auto';
  return {
    content: next,
    events: [{ kind: 'compacted', trigger, beforeTokens: told.result.tokensBefore ?? null, afterTokens }, ...contextRows(next)],
  };
};

const contextRows = ({ used, window }: PiContent): readonly ConversationBody[] =>
  used === null ? [] : [{ kind: 'context', usedTokens: used, windowTokens: window }];
