// Failures of ours as JSON-RPC errors: the message is what failed, the data has all three lines.
import { RequestError } from '@agentclientprotocol/sdk';
import { OrreryError, toOrreryError } from '@orrery/protocol/errors';

/** "The resource is not there", as the protocol numbers it. */
const NOT_FOUND = -32002;

/** The error of an answer. `sessionId`: the session that it is about. */
export const refusalOf = (thrown: unknown, sessionId?: string): RequestError => {
  if (thrown instanceof RequestError) return thrown;
  const error = toOrreryError(thrown);
  const code = error.code === 'not_found' ? NOT_FOUND : error.kind.jsonrpc;
  const lines = error.toLines();
  return new RequestError(code, lines.join('\n'), {
    ...error.toBody(),
    lines,
    ...(sessionId === undefined ? {} : { sessionId }),
  });
};

/** A handler whose failures are ours. */
export const answering =
  <Context extends { readonly params: unknown }, Answer>(work: (context: Context) => Promise<Answer>) =>
  async (context: Context): Promise<Answer> => {
    try {
      return await work(context);
    } catch (thrown) {
      const { sessionId } = context.params as { readonly sessionId?: unknown };
      throw refusalOf(thrown, typeof sessionId === 'string' ? sessionId : undefined);
    }
  };

/** What an editor asked for that cannot be done. */
export const refused = (message: string, rule: string, fix?: string): OrreryError =>
  new OrreryError('invalid_input', message, { rule, ...(fix === undefined ? {} : { fix }) });
