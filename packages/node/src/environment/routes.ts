import type { OperationHandlers } from '@orrery/protocol';
import type { Environments } from './service.ts';

type EnvironmentOperations =
  | 'environmentList'
  | 'environmentCreate'
  | 'environmentShow'
  | 'environmentSet'
  | 'environmentDelete'
  | 'environmentStart'
  | 'environmentStop'
  | 'environmentRecreate'
  | 'environmentFork'
  | 'environmentSetup'
  | 'environmentSetupLog'
  | 'environmentPrune';

/** Handlers of the operations on environments of their own. */
export const environmentHandlers = (environments: Environments): Pick<OperationHandlers, EnvironmentOperations> => ({
  environmentList: ({ query }) => environments.list(query),
  environmentCreate: ({ body }) => environments.create(body),
  environmentShow: ({ params }) => environments.show(params.id),
  environmentSet: ({ params, body }) => environments.rename(params.id, body.name),
  environmentDelete: async ({ params, query }) => {
    await environments.remove(params.id, query);
    return { ok: true };
  },
  environmentStart: ({ params }) => environments.start(params.id),
  environmentStop: ({ params }) => environments.stop(params.id),
  environmentRecreate: ({ params }) => environments.recreate(params.id),
  environmentFork: ({ params, body }) => environments.fork(params.id, body),
  environmentSetup: ({ params, body }) => environments.setup(params.id, body),
  environmentSetupLog: ({ params, query }) => environments.setupLog(params.id, query.after),
  environmentPrune: ({ body, caller }) => environments.prune({ ...body, actor: `token:${caller.name}` }),
});
