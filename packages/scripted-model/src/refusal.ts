/** The refusals a provider may answer with, by a name that is the same on every wire. */

/** How one refusal reads on the three families of wires. */
export type Refusal = {
  readonly name: RefusalName;
  readonly status: number;
  readonly message: string;
  /** `error.type` of Anthropic Messages. */
  readonly anthropicType: string;
  /** `error.type` and `error.code` of the OpenAI wires. */
  readonly openaiCode: string;
  /** `error.status` of Gemini. */
  readonly googleStatus: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Epoch seconds at which a usage limit ends; only a usage limit has one. */
  readonly resetsAt?: number;
  /** The same in seconds from now on. */
  readonly resetsIn?: number;
};

/** Names that `error` and `stream_error` of a step may take. */
export const REFUSAL_NAMES = [
  'rate_limit',
  'usage_limit',
  'quota',
  'overloaded',
  'unavailable',
  'server',
  'auth',
  'credit',
  'too_long',
] as const;
export type RefusalName = (typeof REFUSAL_NAMES)[number];

/** How long a scripted usage limit lasts when its step says nothing, in seconds. */
export const USAGE_LIMIT_SECONDS = 3600;

type Row = readonly [status: number, anthropicType: string, openaiCode: string, googleStatus: string, message: string];

const ROWS: Readonly<Record<RefusalName, Row>> = {
  rate_limit: [
    429,
    'rate_limit_error',
    'rate_limit_exceeded',
    'RESOURCE_EXHAUSTED',
    'Too many requests for this organization in one minute.',
  ],
  usage_limit: [
    429,
    'rate_limit_error',
    'usage_limit_reached',
    'RESOURCE_EXHAUSTED',
    'The usage limit of this plan has been reached.',
  ],
  quota: [429, 'rate_limit_error', 'insufficient_quota', 'RESOURCE_EXHAUSTED', 'The quota of this account is used up.'],
  overloaded: [529, 'overloaded_error', 'server_is_overloaded', 'UNAVAILABLE', 'Overloaded'],
  unavailable: [503, 'api_error', 'server_error', 'UNAVAILABLE', 'Service unavailable'],
  server: [500, 'api_error', 'server_error', 'INTERNAL', 'Internal server error'],
  auth: [401, 'authentication_error', 'invalid_api_key', 'UNAUTHENTICATED', 'The API key is not valid.'],
  credit: [
    400,
    'invalid_request_error',
    'billing_hard_limit_reached',
    'FAILED_PRECONDITION',
    'Your credit balance is too low to access the API.',
  ],
  too_long: [
    400,
    'invalid_request_error',
    'context_length_exceeded',
    'INVALID_ARGUMENT',
    'prompt is too long: 250000 tokens > 200000 maximum',
  ],
};

/** When a refusal is given, and after how many seconds a usage limit ends. */
export type RefusalTime = { readonly nowSeconds: number; readonly resetsIn?: number };

/** The refusal of that name. */
export function refusalOf(name: RefusalName, { nowSeconds, resetsIn = USAGE_LIMIT_SECONDS }: RefusalTime): Refusal {
  const [status, anthropicType, openaiCode, googleStatus, message] = ROWS[name];
  const common = { name, status, anthropicType, openaiCode, googleStatus, message };
  if (name === 'rate_limit') return { ...common, headers: { 'retry-after': '1' } };
  if (name !== 'usage_limit') return { ...common, headers: {} };
  return { ...common, headers: {}, resetsAt: nowSeconds + resetsIn, resetsIn };
}
