import type { OperationHandlers } from '@orrery/protocol';
import type { Push } from './service.ts';

/** Handlers of the operations on push. */
export const pushHandlers = (push: Push): Pick<OperationHandlers, 'pushList' | 'pushAdd' | 'pushTry' | 'pushRemove'> => ({
  pushList: ({ caller }) => push.list(caller),
  pushAdd: ({ body, caller }) => push.add(body, caller),
  pushTry: ({ params, caller }) => push.try(params.id, caller),
  pushRemove: async ({ params, caller }) => {
    await push.remove(params.id, caller);
    return { ok: true };
  },
});
