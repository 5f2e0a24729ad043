import type { OperationHandlers } from '@orrery/protocol';
import type { Attached } from './service.ts';

type AttachedOperations = 'attachedList' | 'attachedShow' | 'attachedBegin' | 'attachedBeat' | 'attachedEnd';

/** Handlers of the operations on attached sessions. */
export const attachedHandlers = (attached: Attached): Pick<OperationHandlers, AttachedOperations> => ({
  attachedList: ({ query }) => attached.list(query),
  attachedShow: ({ params }) => attached.show(params.id),
  attachedBegin: ({ body, caller }) => attached.begin(body, caller),
  attachedBeat: ({ params, body, caller }) => attached.hear(params.id, body, caller),
  attachedEnd: ({ params, caller }) => attached.leave(params.id, caller),
});
