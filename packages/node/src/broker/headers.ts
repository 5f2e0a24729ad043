// Headers across the gateway: those of one hop and every credential stay behind, everything else passes.

import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { HOP_BY_HOP } from '../kernel/hop-by-hop.ts';

/** Credentials of the caller's side, and what the gateway says itself. */
const OWN = [
  'authorization',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'cookie',
  'host',
  'content-length',
  'accept-encoding',
  'forwarded',
  'via',
  'x-orrery-own',
];

const named = (headers: IncomingHttpHeaders): readonly string[] =>
  (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());

const without = (headers: IncomingHttpHeaders, dropped: ReadonlySet<string>): OutgoingHttpHeaders =>
  Object.fromEntries(
    Object.entries(headers).filter(
      ([name, value]) => value !== undefined && !dropped.has(name) && !name.startsWith('x-forwarded-'),
    ),
  );

/** What a provider gets of the program's headers. */
export const forwardedRequestHeaders = (headers: IncomingHttpHeaders): OutgoingHttpHeaders =>
  without(headers, new Set([...HOP_BY_HOP, ...OWN, ...named(headers)]));

/** What the program gets of a provider's headers. */
export const forwardedAnswerHeaders = (headers: IncomingHttpHeaders): OutgoingHttpHeaders =>
  without(headers, new Set([...HOP_BY_HOP, 'set-cookie', ...named(headers)]));

/** What a web server gets through the egress proxy; its own credentials and cookies pass. */
export const proxiedRequestHeaders = (headers: IncomingHttpHeaders): OutgoingHttpHeaders =>
  without(headers, new Set([...HOP_BY_HOP.filter((name) => name !== 'expect'), 'host', ...named(headers)]));

/** The token of a run, from either header the programs use. */
export const runTokenOf = (headers: IncomingHttpHeaders): string | null => {
  const bearer = /^Bearer ([\x21-\x7e]+)$/i.exec(headers.authorization ?? '')?.[1];
  const apiKey = headers['x-api-key'] ?? headers['x-goog-api-key'];
  return bearer ?? (typeof apiKey === 'string' && apiKey !== '' ? apiKey : null);
};

/** The token of the egress proxy: basic credentials of the user `egress`. */
export const egressTokenOf = (headers: IncomingHttpHeaders): string | null => {
  const encoded = /^Basic ([A-Za-z0-9+/=]{1,400})$/i.exec(headers['proxy-authorization'] ?? '')?.[1];
  if (encoded === undefined) return null;
  return /^egress:(.+)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8'))?.[1] ?? null;
};
