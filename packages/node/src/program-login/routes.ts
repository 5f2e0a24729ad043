import type { OperationHandlers } from '@orrery/protocol';
import type { ProgramLogins } from './service.ts';

/** Handlers of the operations on logins of agent programs. */
export const programLoginHandlers = (
  logins: ProgramLogins,
): Pick<OperationHandlers, 'harnessLoginShow' | 'harnessLogin' | 'harnessLogout'> => ({
  harnessLoginShow: ({ params }) => logins.view(params.id),
  harnessLogin: ({ params, body }) => (body.token === undefined ? logins.begin(params.id) : logins.accept(params.id, body.token)),
  harnessLogout: ({ params }) => logins.forget(params.id),
});
