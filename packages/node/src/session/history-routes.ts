import type { OperationHandlers } from '@orrery/protocol';
import type { Store } from '../store/store.ts';
import type { SessionHistory } from './history.ts';

type HistoryOperations = 'sessionCheckpoints' | 'sessionCheckpoint' | 'sessionRewind' | 'sessionDelete';

export const sessionHistoryHandlers = ({
  store,
  history,
}: {
  readonly store: Store;
  readonly history: SessionHistory;
}): Pick<OperationHandlers, HistoryOperations> => ({
  sessionCheckpoints: async ({ params }) => ({ items: await history.checkpoints(params.id), seq: store.seq() }),
  sessionCheckpoint: ({ params }) => history.checkpoint(params.id),
  sessionRewind: ({ params, body }) => history.rewind(params.id, body),
  sessionDelete: async ({ params }) => {
    await history.remove(params.id);
    return { ok: true };
  },
});
