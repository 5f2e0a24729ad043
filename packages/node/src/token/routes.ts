import type { OperationHandlers } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import type { Logins } from './logins.ts';
import type { Tokens } from './service.ts';

/** Handlers of the token operations. */
export const tokenHandlers = (tokens: Tokens): Pick<OperationHandlers, 'tokenList' | 'tokenCreate' | 'tokenRemove'> => ({
  tokenList: async () => ({ items: [...(await tokens.list())] }),
  tokenCreate: ({ body, caller }) =>
    tokens.create({
      name: body.name,
      scope: body.scope,
      expiresAtMs: body.expiresAt === undefined ? null : Date.parse(body.expiresAt),
      actor: `token:${caller.name}`,
    }),
  tokenRemove: async ({ params, caller }) => {
    await tokens.remove({ id: params.id, actor: `token:${caller.name}` });
    return { ok: true };
  },
});

/** Handlers of the operations by which browsers are let in. The door makes the cookie of a token that is answered. */
export const loginHandlers = (
  logins: Logins,
  { hasPages }: { readonly hasPages: boolean },
): Pick<OperationHandlers, 'loginLink' | 'loginEnter' | 'loginLeave' | 'callerShow'> => ({
  loginLink: async ({ body, caller }) => {
    if (!hasPages) throw notBuilt();
    return logins.link(caller, body.scope);
  },
  loginEnter: ({ body }) => logins.enter(body.key),
  loginLeave: async ({ caller }) => {
    await logins.leave(caller);
    return { ok: true };
  },
  callerShow: async ({ caller: { name, scope } }) => ({ name, scope }),
});

const notBuilt = (): OrreryError =>
  new OrreryError('unsupported', 'This node has no web client: it was not built.', {
    rule: 'A node reads the client when it starts.',
    fix: 'Build it and start the node again: npm run quickstart',
  });
