// What Codex tells by itself while a thread is open. Pure: state in, rows and facts out.

import { clip } from '../clip.ts';
import type { SessionFact, Spoken } from '../dialogue.ts';
import { noticeOf } from '../frames.ts';
import { INLINE_BODY_BYTES } from '../limits.ts';
import { agentOf, contextRows, onAgentNotice, onCollab, onCompaction, onPlan, onTokens } from './content.ts';
import { changedPaths, changeText, failureOfTurn, itemRows } from './items.ts';
import { interrupt, noUsage, without, type State } from './session-state.ts';
import { isLive, liveOf, liveStart } from './live.ts';
import { errorNotice, itemNotice, resolvedNotice, turnNotice } from './session-wire.ts';

/** Changes of files that are remembered; it makes a handful at once. */
const REMEMBERED_CHANGES = 16;

/** News that need no row: their content comes again, whole, in another, or is the node's own. */
const QUIET = new Set([
  ...['thread/started', 'thread/status/changed', 'thread/settings/updated', 'thread/name/updated', 'thread/readState/changed'],
  ...['turn/diff/updated', 'account/rateLimits/updated', 'account/updated'],
  ...['mcpServer/startupStatus/updated', 'remoteControl/status/changed', 'skills/changed', 'thread/compacted'],
  // Of its own settings and goals, which are not ours to tell.
  ...['deprecationNotice', 'thread/goal/cleared', 'thread/goal/updated'],
  ...['item/fileChange/outputDelta', 'item/mcpToolCall/progress'],
]);

/** One of its notifications. */
export const onNotice = (now: State, method: string, frame: Readonly<Record<string, unknown>>): Spoken<State> => {
  const agent = agentOf(now, frame);
  if (agent !== null && method !== 'serverRequest/resolved') return onAgentNotice(now, agent, { method, frame });
  switch (method) {
    case 'turn/started':
      return onTurnStart(now, frame);
    case 'turn/plan/updated':
      return onPlan(now, frame);
    case 'item/started':
    case 'item/completed':
      return onItem(now, method === 'item/completed', frame);
    case 'thread/tokenUsage/updated':
      return onTokens(now, frame);
    case 'error':
      return onError(now, frame);
    case 'turn/completed':
      return onTurn(now, frame);
    case 'serverRequest/resolved': {
      const key = String(resolvedNotice.safeParse(frame).data?.params.requestId ?? '');
      if (now.asks[key] === undefined) return { state: now };
      return { state: { ...now, asks: without(now.asks, key) }, facts: [{ kind: 'withdrawn', key }] };
    }
    default:
      if (isLive(method)) return { state: now, live: liveOf(method, frame) };
      return QUIET.has(method) ? { state: now } : { state: now, drift: `notification ${method}`.slice(0, 80) };
  }
};

const onItem = (now: State, ended: boolean, frame: unknown): Spoken<State> => {
  const item = itemNotice.safeParse(frame).data?.params.item;
  if (item === undefined)
    return { state: now, drift: ended ? 'item/completed of another shape' : 'item/started of another shape' };
  if (item.type === 'contextCompaction') return onCompaction(now, { ended });
  const about = item.type === 'collabAgentToolCall' ? onCollab(now, frame) : null;
  if (about !== null) return { ...about, events: [...itemRows(item, ended), ...(about.events ?? [])] };
  if (item.type === 'userMessage')
    return ended ? onWords(now, item.content.map((part) => part['text']).join('')) : { state: now };
  const changes =
    item.type === 'fileChange' && !ended
      ? [...now.changes, { id: item.id, paths: changedPaths(item), text: clip(changeText(item), INLINE_BODY_BYTES) }]
      : now.changes.filter(({ id }) => !ended || id !== item.id);
  const live = ended ? [] : liveStart(item);
  return { state: { ...now, changes: changes.slice(-REMEMBERED_CHANGES) }, events: itemRows(item, ended), live };
};

/** A steer is heard when its words stand in the thread. */
const onWords = (now: State, text: string): Spoken<State> => {
  const [first, ...steers] = now.steers;
  if (first === undefined || first.text !== text) return { state: now };
  return { state: { ...now, steers }, facts: [{ kind: 'steered', key: first.key, refused: null }] };
};

const onError = (now: State, frame: unknown): Spoken<State> => {
  const { data } = errorNotice.safeParse(frame);
  if (data === undefined) return { state: now, drift: 'error of another shape' };
  const { error, willRetry } = data.params;
  if (!willRetry) return { state: { ...now, failure: failureOfTurn(error) } };
  return { state: now, events: [noticeOf('warning', error.message)] };
};

/** From here on a turn can be stopped; one that was not begun by an answer of its own gets its name here. */
const onTurnStart = (now: State, frame: unknown): Spoken<State> => {
  const id = turnNotice.safeParse(frame).data?.params.turn.id;
  if (id === undefined || now.turn === null) return { state: now };
  const turnId = now.action === 'compact' ? (now.turnId ?? id) : now.turnId;
  const known = { ...now, turnId, begun: id };
  return now.stop && turnId === id ? interrupt(known) : { state: known };
};

const onTurn = (now: State, frame: unknown): Spoken<State> => {
  const ended = turnNotice.safeParse(frame).data?.params.turn;
  if (ended === undefined) return { state: now, drift: 'turn/completed of another shape' };
  if (now.turn === null || (now.turnId !== null && ended.id !== now.turnId)) return { state: now };
  const word =
    ended.status === 'completed'
      ? ({ kind: 'success' } as const)
      : ended.status === 'interrupted'
        ? ({ kind: 'stopped' } as const)
        : (now.failure ?? failureOfTurn(ended.error ?? { message: 'The turn failed.', codexErrorInfo: null }));
  const late: readonly SessionFact[] = now.steers.map(({ key }) => ({
    kind: 'steered',
    key,
    refused: 'The turn was over before it was heard.',
  }));
  const { input, output, cached } = now.usage;
  return {
    state: { ...now, turn: null, turnId: null, steers: [], asks: {}, changes: [], usage: noUsage, failure: null, action: 'say' },
    events: [
      ...(input + output === 0
        ? []
        : [{ kind: 'usage', inputTokens: input, outputTokens: output, cachedTokens: cached } as const]),
      ...contextRows(now),
    ],
    facts: [...late, { kind: 'position', at: ended.id }, { kind: 'ended', turn: now.turn, reported: word }],
  };
};
