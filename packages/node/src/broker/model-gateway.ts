// The model gateway: a run token in, the real key out, every byte of the answer passed as it comes, its usage counted from
// a copy. It adds no retries, and neither prompts nor answers are ever logged.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Connections } from './connections.ts';
import { MODEL_CALLS_PER_ENVIRONMENT } from './limits.ts';
import type { TokenIdentity } from './model.ts';
import { createCall, refuse, type CallServices, type Exchange } from './model-call.ts';
import { runCaller } from './run-caller.ts';
import type { RunTokens } from './run-tokens.ts';

export type GatewayParts = CallServices & {
  readonly tokens: Pick<RunTokens, 'find'>;
  readonly connections: Pick<Connections, 'prove'>;
};

/** Calls under way, by environment, so that they can be counted and ended. */
export type ModelGateway = {
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Ends every call of an environment. */
  endCalls(environmentId: string): void;
};

const TARGET = /^\/models\/([^/?#]*)([^?#]*)(\?[^#]*)?$/;

/** Makes the handler of `/models/<provider>/…`. */
export const createModelGateway = (parts: GatewayParts): ModelGateway => {
  const running = new Map<string, Set<AbortController>>();

  const authenticated = (exchange: Exchange): Promise<TokenIdentity | null> =>
    runCaller(parts, exchange.request, {
      action: 'model.call',
      subject: exchange.provider.slice(0, 64),
      refuse: (message) => refuse(exchange, 'token', message),
    });

  const handle = async (exchange: Exchange): Promise<void> => {
    const identity = await authenticated(exchange);
    if (identity === null) return;
    const full = parts.connections.prove(exchange.request.socket, identity.environmentId);
    if (full !== null) {
      exchange.response.setHeader('connection', 'close');
      return refuse(exchange, 'busy', `No room for this connection: ${full}.`);
    }
    const calls = running.get(identity.environmentId) ?? new Set();
    if (calls.size >= MODEL_CALLS_PER_ENVIRONMENT) {
      return refuse(
        exchange,
        'busy',
        `This environment has ${MODEL_CALLS_PER_ENVIRONMENT} model calls under way; more wait until one is over.`,
      );
    }
    const abort = new AbortController();
    running.set(identity.environmentId, calls.add(abort));
    exchange.response.once('close', () => {
      if (!exchange.response.writableFinished) abort.abort();
    });
    try {
      await createCall(parts, { exchange, identity, abort }).run();
    } finally {
      calls.delete(abort);
      if (calls.size === 0) running.delete(identity.environmentId);
      // A call that was ended has no answer: the program sees a cut, not silence.
      if (abort.signal.aborted) exchange.response.destroy();
    }
  };

  return {
    async handle(request, response) {
      const [, provider = '', path = '', query = ''] = TARGET.exec(request.url ?? '') ?? [];
      await handle({ request, response, provider, path, query });
    },
    endCalls(environmentId) {
      for (const call of running.get(environmentId) ?? []) call.abort();
    },
  };
};
