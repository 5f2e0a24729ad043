import type { OperationHandlers, SessionRewound } from '@orrery/protocol';
import type { Store } from '../store/store.ts';
import type { SessionHistory } from './history.ts';
import type { SessionReview } from './review.ts';
import type { Sessions } from './service.ts';
import type { TakeBack } from './take-back.ts';

type HistoryOperations =
  | 'sessionCheckpoints'
  | 'sessionCheckpoint'
  | 'sessionRewind'
  | 'sessionFork'
  | 'sessionHandOver'
  | 'sessionDelete'
  | 'sessionChanges'
  | 'sessionChange'
  | 'sessionTakeBack';

export const sessionHistoryHandlers = ({
  store,
  history,
  review,
  takeBack,
  sessions,
}: {
  readonly store: Store;
  readonly history: SessionHistory;
  readonly review: SessionReview;
  readonly takeBack: (reference: string, asked: TakeBack) => Promise<SessionRewound>;
  readonly sessions: Pick<Sessions, 'fork' | 'handOver'>;
}): Pick<OperationHandlers, HistoryOperations> => ({
  sessionCheckpoints: async ({ params }) => ({ items: await history.checkpoints(params.id), seq: store.seq() }),
  sessionCheckpoint: ({ params }) => history.checkpoint(params.id),
  sessionRewind: ({ params, body }) => history.rewind(params.id, body),
  sessionFork: ({ params, body }) => sessions.fork(params.id, body),
  sessionHandOver: ({ params, body }) => sessions.handOver(params.id, body),
  sessionChanges: ({ params, query }) => review.changes(params.id, query.from ?? null),
  sessionChange: ({ params, query: { oldPath = null, ...asked } }) => review.change(params.id, { oldPath, ...asked }),
  sessionTakeBack: ({ params, body }) => takeBack(params.id, body),
  sessionDelete: async ({ params }) => {
    await history.remove(params.id);
    return { ok: true };
  },
});
