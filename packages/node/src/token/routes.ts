import type { OperationHandlers } from '@orrery/protocol';
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
