// Why a turn failed, by what the agent says of it: its codes first, its words last.

import { failureOf, readErrorBody } from '../failure.ts';
import type { TurnFailure } from '../harness.ts';
import type { Reported } from '../reported.ts';
import { isObject } from './content.ts';
import type { RpcError } from './wire.ts';

/** "Authentication required" of this protocol. */
const AUTH_REQUIRED = -32_000;

/** Whether it wants somebody to log in first. */
export const wantsLogin = ({ code, message }: RpcError): boolean => code === AUTH_REQUIRED && /auth|log ?in/i.test(message);

/** Reports the error that a prompt was answered with. */
export const failureOfPrompt = (error: RpcError): Reported => {
  const words = wordsOf(error);
  if (error.code === AUTH_REQUIRED) return { kind: 'failure', failure: 'auth', message: words, resetsAt: null };
  const body = bodyIn(words);
  const status = statusOf(error) ?? statusIn(words);
  const codes = [...codesOf(error.data), ...body.codes];
  const failure = failureOf({ status, codes, message: words }) ?? byWords(words);
  return { kind: 'failure', failure, message: words, resetsAt: body.resetsAt };
};

/** Its words; a general message has the particular ones beside it. */
export const wordsOf = ({ message, data }: RpcError): string => {
  const more = isObject(data) ? (data['details'] ?? data['message'] ?? data['error']) : data;
  const said = typeof more === 'string' ? more : isObject(more) && typeof more['message'] === 'string' ? more['message'] : '';
  if (said === '' || message.includes(said)) return message === '' ? 'It failed without a word.' : message;
  return message === '' || said.includes(message) ? said : `${message}: ${said}`;
};

/** Some give the status of the model call as the code of the error. */
const statusOf = ({ code, data }: RpcError): number | null => {
  const told = isObject(data) ? [data['status'], data['statusCode'], data['httpStatusCode'], data['code']] : [];
  const info = isObject(data) ? (data['codexErrorInfo'] ?? data['codex_error_info']) : undefined;
  const inner = isObject(info) ? Object.values(info).flatMap((value) => (isObject(value) ? [value['httpStatusCode']] : [])) : [];
  return [code, ...told, ...inner].filter((status): status is number => typeof status === 'number').find(isStatus) ?? null;
};

const isStatus = (status: number): boolean => Number.isInteger(status) && status >= 400 && status <= 599;

/** `429 …`, `status 529`, `HTTP 500`: only where the words say that it is one. */
const statusIn = (words: string): number | null => {
  const found = /(?:^|status(?: code)?:? |HTTP |API Error: |\()([45]\d\d)\b/i.exec(words)?.[1];
  return found === undefined ? null : Number(found);
};

const codesOf = (data: unknown): readonly string[] => {
  if (!isObject(data)) return [];
  const info = data['codexErrorInfo'] ?? data['codex_error_info'];
  const named = [
    data['errorKind'],
    data['type'],
    data['code'],
    data['name'],
    data['errorName'],
    typeof info === 'string' ? info : undefined,
  ];
  return [...named.filter((code): code is string => typeof code === 'string'), ...(isObject(info) ? Object.keys(info) : [])];
};

/** An answer of a provider inside the words, when there is one. */
const bodyIn = (words: string): ReturnType<typeof readErrorBody> => {
  const from = words.indexOf('{');
  const read = from === -1 ? null : readErrorBody(words.slice(from, words.lastIndexOf('}') + 1));
  return read ?? { codes: [], message: words, resetsAt: null, waitMs: null };
};

const byWords = (words: string): TurnFailure => {
  if (/timed? ?out|timeout/i.test(words)) return 'timeout';
  if (/connection error|socket|ECONN|EPIPE|fetch failed|network|terminated/i.test(words)) return 'network';
  return /stream ended|unexpected (token|end)|malformed|parse/i.test(words) ? 'protocol' : 'program';
};

/** The agent's own word on a turn that it ended. `hides`: it ends one that failed as if all were well. */
export const reportedOf = (stopReason: string, hides: boolean): Reported => {
  switch (stopReason) {
    case 'end_turn':
      return hides ? { kind: 'success', doubtful: true } : { kind: 'success' };
    case 'cancelled':
      return { kind: 'stopped' };
    case 'max_tokens':
      return { kind: 'failure', failure: 'context', message: 'The model reached the end of what it may say.', resetsAt: null };
    case 'refusal':
      return { kind: 'failure', failure: 'program', message: 'The model refused to go on.', resetsAt: null };
    case 'max_turn_requests':
      return { kind: 'failure', failure: 'program', message: 'The turn had as many model calls as it may have.', resetsAt: null };
    default:
      return { kind: 'failure', failure: 'protocol', message: `It ended for an unknown reason: ${stopReason}`, resetsAt: null };
  }
};
