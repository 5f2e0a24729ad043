import { OrreryError, type OperationHandlers } from '@orrery/protocol';
import type { Store } from '../store/store.ts';
import type { Catalogues } from './catalogues.ts';
import type { SessionRow } from './model.ts';
import type { Sessions } from './service.ts';
import { findSession } from './store.ts';

type SessionOperations =
  | 'sessionList'
  | 'sessionCreate'
  | 'sessionActivity'
  | 'sessionShow'
  | 'sessionSet'
  | 'sessionLog'
  | 'sessionRows'
  | 'sessionDetail'
  | 'sessionSearch'
  | 'sessionInterrupt'
  | 'sessionClose'
  | 'sessionResume'
  | 'sessionEnd'
  | 'attachmentList'
  | 'attachmentAdd'
  | 'attachmentRead'
  | 'turnList'
  | 'turnAdd'
  | 'turnSet'
  | 'turnSendNow'
  | 'turnRemove'
  | 'turnDecide';

/** Ids that one question about activity may name. */
const ACTIVITY_IDS = 64;

type Activity = 'idle' | 'running' | 'waiting' | 'dormant' | 'ended' | 'missing' | 'unavailable';

/** What an attached program does is its own affair. */
const attachedActivity = (state: 'attached' | 'ended' | null): Activity => {
  if (state === null) return 'missing';
  return state === 'attached' ? 'unavailable' : 'ended';
};

const activityOf = (row: SessionRow): Activity => {
  if (row.state === 'failed') return 'unavailable';
  return row.state === 'starting' ? 'running' : (row.state as Activity);
};

const bytesOf = async function* (body: AsyncIterable<Uint8Array> | Uint8Array): AsyncGenerator<Uint8Array> {
  if (body instanceof Uint8Array) yield body;
  else yield* body;
};

/** Handlers of the session operations. */
export const sessionHandlers = ({
  store,
  sessions,
  attachedState,
}: {
  readonly store: Store;
  readonly sessions: Sessions;
  /** Of a program that a person attached; null: it is none. */
  readonly attachedState: (id: string) => Promise<'attached' | 'ended' | null>;
}): Pick<OperationHandlers, SessionOperations> => ({
  sessionList: ({ query }) => sessions.list(query),
  sessionCreate: ({ body }) => sessions.create(body),
  sessionActivity: async ({ query }) => {
    const ids = query.ids.split(',');
    if (ids.length > ACTIVITY_IDS)
      throw new OrreryError('invalid_input', `${ids.length} sessions are too many at once.`, {
        rule: `At most ${ACTIVITY_IDS} ids; every one of them is answered.`,
      });
    const activity = async (id: string): Promise<Activity> => {
      const row = await findSession(store.read, id);
      return row === null ? attachedActivity(await attachedState(id)) : activityOf(row);
    };
    return { items: await Promise.all(ids.map(async (id) => ({ id, activity: await activity(id) }))) };
  },
  sessionShow: ({ params }) => sessions.show(params.id),
  sessionSet: ({ params, body }) => sessions.set(params.id, body),
  sessionLog: ({ params, query }) => sessions.transcripts.log(params.id, query),
  sessionRows: ({ params, query }) => sessions.transcripts.rows(params.id, query),
  sessionDetail: ({ params, query }) => sessions.transcripts.detail(params.id, { locator: params.locator, ...query }),
  sessionSearch: ({ query }) => sessions.transcripts.search(query),
  sessionInterrupt: ({ params }) => sessions.interrupt(params.id),
  sessionClose: async ({ params }) => ({ ...(await sessions.close(params.id)), closed: true }),
  sessionResume: ({ params }) => sessions.resume(params.id),
  sessionEnd: ({ params }) => sessions.leave(params.id, 'end'),
  attachmentList: async ({ params }) => ({ items: await sessions.attachments(params.id) }),
  attachmentAdd: ({ params, query, body }) => sessions.attach(params.id, { ...query, body: bytesOf(body) }),
  attachmentRead: ({ params, query }) => sessions.transcripts.attachment(params.id, { id: params.attachment, ...query }),
  turnList: async ({ params }) => ({ items: await sessions.turns(params.id), seq: store.seq() }),
  turnAdd: ({ params, body }) => sessions.addTurn(params.id, body),
  turnSet: ({ params, body }) => sessions.setTurn(params.id, params.turn, body),
  turnSendNow: ({ params }) => sessions.sendNow(params.id, params.turn),
  turnRemove: ({ params }) => sessions.removeTurn(params.id, params.turn),
  turnDecide: ({ params, body }) => sessions.decide(params.id, params.turn, body.decision),
});

/** Handlers of what programs reported of themselves. */
export const catalogueHandlers = ({
  sessions,
  catalogues,
}: {
  readonly sessions: Pick<Sessions, 'find'>;
  readonly catalogues: Catalogues;
}): Pick<OperationHandlers, 'sessionCommands' | 'harnessModels'> => ({
  sessionCommands: async ({ params }) => catalogues.ofSession(await sessions.find(params.id)),
  harnessModels: ({ params }) => catalogues.ofHarness(params.id),
});
