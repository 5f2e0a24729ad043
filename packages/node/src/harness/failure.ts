// Tells failures of model calls apart: by HTTP status and the provider's own codes first, by its words last. Used by the
// adapters on what their program reports and by the model gateway on what the provider answers.

import type { TurnFailure } from './harness.ts';

/** What is known of a failed model call. */
export type CallFailure = {
  readonly status: number | null;
  /** `error.type`, `error.code`, `error.status` of the provider, as many as there are. */
  readonly codes: readonly string[];
  readonly message: string;
};

const CODES: ReadonlyMap<string, TurnFailure> = new Map(
  Object.entries({
    authentication_error: 'auth',
    authentication_failed: 'auth',
    permission_error: 'auth',
    invalid_api_key: 'auth',
    unauthenticated: 'auth',
    permission_denied: 'auth',
    overloaded_error: 'overloaded',
    overloaded: 'overloaded',
    server_is_overloaded: 'overloaded',
    slow_down: 'overloaded',
    unavailable: 'overloaded',
    usage_limit_reached: 'usage_limit',
    usagelimitexceeded: 'usage_limit',
    contextwindowexceeded: 'context',
    contextoverflowerror: 'context',
    serveroverloaded: 'overloaded',
    unauthorized: 'auth',
    usage_not_included: 'usage_limit',
    insufficient_quota: 'billing',
    billing_hard_limit_reached: 'billing',
    billing_error: 'billing',
    billing_not_active: 'billing',
    context_length_exceeded: 'context',
    request_too_large: 'context',
    prompt_too_long: 'context',
    rate_limit_exceeded: 'rate_limit',
  }),
);

const WORDS: readonly (readonly [RegExp, TurnFailure])[] = [
  [/usage limit/i, 'usage_limit'],
  [
    /(prompt|input|request) is too long|maximum context length|ran out of room in the model's context|exceeds the context window/i,
    'context',
  ],
  [/credit balance|quota (of .* )?(is used up|exceeded)|billing|insufficient (quota|funds|credits)/i, 'billing'],
  [/invalid api key|api key is not valid|failed to authenticate|unauthorized/i, 'auth'],
  [/overloaded|experiencing high demand/i, 'overloaded'],
  [/rate limit|too many requests/i, 'rate_limit'],
];

/** Which failure it was, or null when neither status, codes nor words tell. */
export const failureOf = ({ status, codes, message }: CallFailure): TurnFailure | null => {
  const known = codes.map((code) => CODES.get(code.toLowerCase())).find((failure) => failure !== undefined);
  if (known !== undefined && known !== 'rate_limit') return known;
  const said = WORDS.find(([words]) => words.test(message))?.[1] ?? null;
  if (status === null) return known ?? said;
  return byStatus(status, said) ?? known ?? null;
};

const byStatus = (status: number, said: TurnFailure | null): TurnFailure | null => {
  if (status === 401 || status === 403) return 'auth';
  if (status === 402) return 'billing';
  if (status === 413) return 'context';
  // The words may only sharpen what the status leaves open.
  if (status === 429) return said === 'usage_limit' || said === 'billing' ? said : 'rate_limit';
  if (status === 400 || status === 404 || status === 422) return said === 'context' || said === 'billing' ? said : null;
  if (status === 408 || status === 504) return 'timeout';
  return status >= 500 ? 'overloaded' : null;
};

/** What an error of a provider says. `waitMs`: how long to wait from now on, where no instant is said. */
export type ErrorBody = {
  readonly codes: readonly string[];
  readonly message: string;
  readonly resetsAt: string | null;
  readonly waitMs: number | null;
};

/** Reads `error` of an answer body in any of the wires' forms; never throws. */
export const readErrorBody = (text: string): ErrorBody => {
  const none = { codes: [], message: text, resetsAt: null, waitMs: null };
  const body = parseObject(text);
  if (body === null) return none;
  const error = isObject(body['error']) ? body['error'] : body;
  const told = detailsOf(error['details']);
  const strings = [...told.codes, error['type'], error['code'], error['status']].filter(
    (code): code is string => typeof code === 'string',
  );
  const message = typeof error['message'] === 'string' ? error['message'] : text;
  const codes = strings.filter((code) => code !== 'error');
  return { codes, message, resetsAt: epochSeconds(error['resets_at']), waitMs: told.waitMs };
};

/** Google's details: which quota it was, and how long to wait. https://cloud.google.com/apis/design/errors#error_details */
const detailsOf = (details: unknown): Pick<ErrorBody, 'codes' | 'waitMs'> => {
  const all = Array.isArray(details) ? details.filter(isObject) : [];
  const delay = all.map(({ retryDelay }) => retryDelay).find((value) => typeof value === 'string');
  const seconds = /^(\d{1,9}(?:\.\d+)?)s$/.exec(delay ?? '')?.[1];
  const quotas = all.flatMap(({ violations }) => (Array.isArray(violations) ? violations.filter(isObject) : []));
  const isUsedUp = quotas.some(({ quotaId }) => typeof quotaId === 'string' && /PerDay|PerMonth/.test(quotaId));
  return {
    codes: isUsedUp ? ['usage_limit_reached'] : [],
    waitMs: seconds === undefined ? null : Math.ceil(Number(seconds) * 1000),
  };
};

/** Seconds since 1970, as a number or its text, as an instant; null for anything else. */
export const epochSeconds = (value: unknown): string | null => {
  const seconds = typeof value === 'string' && /^\d{9,11}$/.test(value) ? Number(value) : value;
  if (typeof seconds !== 'number' || !(seconds > 0 && seconds < 1e11)) return null;
  return new Date(seconds * 1000).toISOString();
};

type JsonObject = Record<string, unknown>;

const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);

const parseObject = (text: string): JsonObject | null => {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
};
