// What Codex tells of an item while it is written. Pure.

import type { LiveKind } from '@orrery/protocol';
import { z } from 'zod';
import type { LivePiece } from '../dialogue.ts';
import type { ThreadItem } from './session-wire.ts';

/** Its notifications, and the kind of row that each adds to. */
const deltas: Readonly<Record<string, LiveKind>> = {
  'item/agentMessage/delta': 'text',
  'item/plan/delta': 'text',
  'item/reasoning/summaryTextDelta': 'thinking',
  'item/reasoning/summaryPartAdded': 'thinking',
  'item/reasoning/textDelta': 'thinking',
  'item/commandExecution/outputDelta': 'tool.result',
};

const deltaNotice = z.object({
  params: z.object({ itemId: z.string(), delta: z.string().optional(), summaryIndex: z.int().optional() }),
});

export const isLive = (method: string): boolean => Object.hasOwn(deltas, method);

/** What such a notification adds. */
export const liveOf = (method: string, frame: unknown): readonly LivePiece[] => {
  const kind = deltas[method];
  const params = deltaNotice.safeParse(frame).data?.params;
  if (kind === undefined || params === undefined) return [];
  // Parts of a summary stand apart, as in the whole.
  const append = method === 'item/reasoning/summaryPartAdded' ? ((params.summaryIndex ?? 0) > 0 ? '\n\n' : '') : params.delta;
  return append === undefined || append === '' ? [] : [{ kind, row: params.itemId, append }];
};

const kinds: Readonly<Partial<Record<ThreadItem['type'], LiveKind>>> = {
  agentMessage: 'text',
  plan: 'text',
  reasoning: 'thinking',
  commandExecution: 'tool.result',
};

/** An item began: what is added to it from here on is the whole of it. */
export const liveStart = (item: ThreadItem): readonly LivePiece[] => {
  const kind = kinds[item.type];
  return kind === undefined ? [] : [{ kind, row: item.id, text: '' }];
};
