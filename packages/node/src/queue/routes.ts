import type { OperationHandlers } from '@orrery/protocol';
import type { Store } from '../store/store.ts';
import { setPaused } from './queue.ts';

/** Handlers of the queue's operations. `wake` makes the loop look again. */
export const queueHandlers = (parts: {
  readonly store: Store;
  readonly wake: () => void;
}): Pick<OperationHandlers, 'queuePause' | 'queueResume'> => ({
  queuePause: async () => {
    await parts.store.transaction(async (tx) => {
      await setPaused(tx.db, true);
      await tx.append([{ taskId: null, turn: null, body: { kind: 'queue.paused' } }]);
    });
    return { ok: true };
  },
  queueResume: async () => {
    await parts.store.transaction(async (tx) => {
      await setPaused(tx.db, false);
      await tx.append([{ taskId: null, turn: null, body: { kind: 'queue.resumed' } }]);
    });
    parts.wake();
    return { ok: true };
  },
});
