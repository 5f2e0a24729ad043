import { errorCatalogue, fromErrorBody, OrreryError, type ErrorBody, type ErrorCode } from '@orrery/protocol/errors';
import { TransportFailure } from './transport.ts';

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The error of an answer that is none: what came is named, never shown. */
export const answerInvalid = (what: string): OrreryError =>
  new OrreryError('answer_invalid', `The node's answer cannot be used: ${what}.`, {
    rule: 'Only answers of the Orrery API are read.',
    fix: 'Check that the URL is a node of this version: orrery status',
  });

const codeOfStatus = (status: number): ErrorCode => {
  const exact: Partial<Record<number, ErrorCode>> = {
    401: 'unauthenticated',
    403: 'forbidden',
    404: 'not_found',
    413: 'input_too_large',
    415: 'unsupported_media_type',
    429: 'rate_limited',
    503: 'node_unreachable',
  };
  return exact[status] ?? (status >= 500 ? 'internal' : 'answer_invalid');
};

/** Reads the error envelope of an answer; an answer without one is named by its status. */
export const failureOfAnswer = (status: number, body: unknown): OrreryError => {
  if (status >= 300 && status < 400) return answerInvalid('it is a redirect, and redirects are not followed');
  const error = isRecord(body) ? body['error'] : null;
  if (isRecord(error) && typeof error['message'] === 'string')
    return fromErrorBody(error as Partial<ErrorBody> & { message: string });
  return new OrreryError(codeOfStatus(status), `The node answered with the status ${status} and no reason.`);
};

/** Reads what a transport or an abort threw. `write`: whether the request may have changed something. */
export const failureOfTransport = (thrown: unknown, write: boolean, repeatable = false): OrreryError => {
  if (thrown instanceof OrreryError) return thrown;
  const sent = !(thrown instanceof TransportFailure) || thrown.sent;
  if (write && sent) {
    return new OrreryError('outcome_unknown', 'The connection ended before the node answered.', {
      rule: 'What was sent may have been done: it is not sent again by itself.',
      fix: repeatable
        ? 'Repeat it with the same request id: the same request is never done twice.'
        : 'Look what the node did: orrery status',
      cause: thrown,
    });
  }
  return new OrreryError('node_unreachable', 'The node does not answer.', {
    rule: 'Commands talk to a running node.',
    fix: 'Start one: orrery up',
    cause: thrown,
  });
};

/** Whether trying again later may help. */
export const isPassing = (failure: OrreryError): boolean => errorCatalogue[failure.code].retryable || failure.code === 'internal';
