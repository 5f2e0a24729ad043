import type { OperationHandlers } from '@orrery/protocol';
import type { ProgramLogins } from './service.ts';

/** Handlers of the operations on logins of agent programs. */
export const programLoginHandlers = (
  logins: ProgramLogins,
): Pick<OperationHandlers, 'harnessLoginShow' | 'harnessLogin' | 'harnessLogout'> => ({
  harnessLoginShow: ({ params }) => logins.view(params.id),
  harnessLogin: ({ params, body, caller }) => {
    const actor = `token:${caller.name}`;
    return body.token === undefined ? logins.begin(params.id, actor) : logins.accept(params.id, body.token, actor);
  },
  harnessLogout: ({ params, caller }) => logins.forget(params.id, `token:${caller.name}`),
});
