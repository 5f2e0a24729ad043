import type { OperationHandlers } from '@orrery/protocol';
import type { Store } from '../store/store.ts';
import type { Interactions } from './service.ts';

/** Handlers of the interaction operations. */
export const interactionHandlers = (parts: {
  readonly store: Pick<Store, 'seq'>;
  readonly interactions: Interactions;
  /** The id of a session by what a person typed. */
  sessionId(reference: string): Promise<string>;
}): Pick<OperationHandlers, 'interactionList' | 'interactionShow' | 'interactionAnswer'> => ({
  interactionList: async ({ query }) => {
    const sessionId = query.session === undefined ? undefined : await parts.sessionId(query.session);
    const items = await parts.interactions.list({ ...(sessionId === undefined ? {} : { sessionId }), all: query.all });
    return { items, seq: parts.store.seq() };
  },
  interactionShow: ({ params }) => parts.interactions.show(params.id),
  interactionAnswer: ({ params, body, caller }) => parts.interactions.answer(params.id, { ...body, by: caller.name }),
});
