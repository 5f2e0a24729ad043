import { toOrreryError } from '@orrery/protocol/errors';

/** Headers of every answer: nothing is cached, sniffed, framed or run. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** An answer as JSON. */
export const jsonAnswer = (value: unknown, status: number, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(JSON.stringify(value), {
    status,
    headers: { ...securityHeaders, 'content-type': 'application/json; charset=utf-8', ...headers },
  });

/** Anything thrown, as `{error: …}` with the status of the catalogue. What is not an `OrreryError` tells nothing of itself. */
export const errorAnswer = (thrown: unknown): Response => {
  const error = toOrreryError(thrown);
  const headers: Record<string, string> = {};
  if (error.code === 'unauthenticated') headers['www-authenticate'] = 'Bearer realm="orrery"';
  const waitMs = error.details?.['retryAfterMs'];
  if (typeof waitMs === 'number') headers['retry-after'] = String(Math.ceil(waitMs / 1000));
  // The rest of a body that was too large is not read: the connection cannot be used again.
  if (error.code === 'input_too_large') headers['connection'] = 'close';
  return jsonAnswer({ error: error.toBody() }, error.kind.http, headers);
};
