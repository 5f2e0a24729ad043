// The gateway's own refusals in the provider's form, so that the program shows them as it shows any error of its provider.

import type { WireName } from './model.ts';

/** Why the gateway itself said no. */
export type RefusalKind =
  | 'token'
  | 'path'
  | 'too_large'
  | 'bad_request'
  | 'model'
  | 'budget'
  | 'limit'
  | 'busy'
  | 'no_key'
  | 'unreachable'
  | 'quiet';

type Row = { readonly status: number; readonly anthropic: string; readonly google: string };

/** Budget, limits and models get statuses that no program tries again. */
const ROWS: Readonly<Record<RefusalKind, Row>> = {
  token: { status: 401, anthropic: 'authentication_error', google: 'UNAUTHENTICATED' },
  path: { status: 404, anthropic: 'not_found_error', google: 'NOT_FOUND' },
  too_large: { status: 413, anthropic: 'request_too_large', google: 'INVALID_ARGUMENT' },
  bad_request: { status: 400, anthropic: 'invalid_request_error', google: 'INVALID_ARGUMENT' },
  model: { status: 403, anthropic: 'permission_error', google: 'PERMISSION_DENIED' },
  budget: { status: 402, anthropic: 'billing_error', google: 'FAILED_PRECONDITION' },
  limit: { status: 402, anthropic: 'billing_error', google: 'FAILED_PRECONDITION' },
  busy: { status: 429, anthropic: 'rate_limit_error', google: 'RESOURCE_EXHAUSTED' },
  no_key: { status: 401, anthropic: 'authentication_error', google: 'UNAUTHENTICATED' },
  unreachable: { status: 502, anthropic: 'api_error', google: 'UNAVAILABLE' },
  quiet: { status: 504, anthropic: 'api_error', google: 'DEADLINE_EXCEEDED' },
};

/** Status and body of a refusal on a wire. */
export const refusalAnswer = (
  wire: WireName,
  kind: RefusalKind,
  message: string,
): { readonly status: number; readonly body: string } => {
  const { status, anthropic, google } = ROWS[kind];
  switch (wire) {
    case 'anthropic':
      return { status, body: JSON.stringify({ type: 'error', error: { type: anthropic, message } }) };
    case 'gemini':
      return { status, body: JSON.stringify({ error: { code: status, message, status: google } }) };
    case 'responses':
    case 'chat':
      return {
        status,
        body: JSON.stringify({ error: { message, type: `orrery_${kind}`, code: `orrery_${kind}`, param: null } }),
      };
  }
};
