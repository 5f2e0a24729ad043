// A model call that failed while its turn goes on: where the program says nothing of it, the node does.

import { noticeOf } from '../../harness/frames.ts';
import { isActive, type TurnRow } from '../../session/index.ts';
import type { Live, SessionConductorParts } from './context.ts';

/** Says it once, when the turn has outlived it: a failure that ends a turn is told with its end. Repeatable. */
export const tellFailedCall = async (parts: SessionConductorParts, live: Live, open: readonly TurnRow[]): Promise<void> => {
  const turn = open.find((row) => row.kind === 'prompt' && isActive(row));
  if (!live.quietRetries || turn === undefined) return;
  const failure = parts.gatewayFailure(live.sessionId, turn.started_at ?? 0);
  if (failure === null) return;
  const seen = live.failedCall?.failure === failure ? live.failedCall : null;
  live.failedCall = { failure, told: seen !== null };
  if (seen === null || seen.told) return;
  const said = failure.message === '' ? '' : ` ${failure.message}`;
  const body = noticeOf('warning', `A model call failed (${failure.failure}) and ${live.program} goes on.${said}`);
  await parts.store.transaction((tx) => tx.append([{ taskId: null, sessionId: live.sessionId, turn: turn.turn, body }]));
};
