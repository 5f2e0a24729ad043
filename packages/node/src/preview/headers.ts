// What of a request goes on to the program, and what of its answer to the browser. Pure. Headers are flat lists of names
// and values, as they came: their order and their repetitions stay.

import { HOP_BY_HOP } from '../kernel/hop-by-hop.ts';

/** The cookie that a browser was let in with. */
export const PREVIEW_COOKIE = 'orrery_preview';

const OF_ONE_CONNECTION = new Set(HOP_BY_HOP);
/** What a browser says of addresses: the program is told anew. */
const OF_THE_WAY = new Set(['host', 'forwarded', 'x-real-ip']);
/** Names under which a program that listens inside speaks of itself. */
const ITSELF = /^(localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])$/;

type Pair = readonly [name: string, value: string];

const pairsOf = (flat: readonly string[]): Pair[] =>
  Array.from({ length: flat.length / 2 }, (_, index) => [flat[2 * index] ?? '', flat[2 * index + 1] ?? ''] as const);

const ofOneConnection = (pairs: readonly Pair[]): ReadonlySet<string> => {
  const named = pairs.filter(([name]) => name.toLowerCase() === 'connection').flatMap(([, value]) => value.split(','));
  return new Set([...OF_ONE_CONNECTION, ...named.map((name) => name.trim().toLowerCase())]);
};

/** Both addresses of a program: as its browser sees it, and as it sees itself. */
export type Sides = {
  /** `http://env-…-3000.localhost:4748` */
  readonly origin: string;
  readonly port: number;
};

/** How the program is called inside: what development servers take without being told. */
const insideHost = ({ port }: Sides): string => (port === 80 ? 'localhost' : `localhost:${port}`);

const cookiesOf = (value: string): string =>
  value
    .split(';')
    .map((cookie) => cookie.trim())
    .filter((cookie) => cookie !== '' && !/^orrery[_-]/i.test(cookie))
    .join('; ');

/** A value that may go on, changed where it names the preview; null: it stays here. */
const requestValue = ([name, value]: Pair, sides: Sides): string | null => {
  switch (name.toLowerCase()) {
    case 'authorization':
      // A token of the node was meant for the node.
      return /^\s*bearer\s+orr_/i.test(value) ? null : value;
    case 'cookie':
      return cookiesOf(value) || null;
    case 'origin':
      return value === sides.origin ? `http://${insideHost(sides)}` : value;
    case 'referer':
      return value === sides.origin || value.startsWith(`${sides.origin}/`)
        ? `http://${insideHost(sides)}${value.slice(sides.origin.length)}`
        : value;
    case 'sec-websocket-protocol':
      return (
        value
          .split(',')
          .map((protocol) => protocol.trim())
          .filter((protocol) => !protocol.startsWith('orrery-bearer.'))
          .join(', ') || null
      );
    default:
      return value;
  }
};

export type RequestParts = {
  readonly raw: readonly string[];
  readonly sides: Sides;
  /** Address of the browser. */
  readonly client: string | undefined;
  /** How the body is delimited, or what the connection is to become. */
  readonly framing: readonly string[];
};

/**
 * Headers of the request to the program. Host and Origin are its own, so that it takes the request as it takes one from the
 * machine it runs on. `X-Forwarded-Host` is not sent: a server that compares Origin with it would refuse its own page.
 */
export const requestHeaders = ({ raw, sides, client, framing }: RequestParts): string[] => {
  const pairs = pairsOf(raw);
  const left = ofOneConnection(pairs);
  const passed = pairs.flatMap(([name, value]) => {
    const low = name.toLowerCase();
    if (left.has(low) || OF_THE_WAY.has(low) || low.startsWith('x-forwarded-')) return [];
    const said = requestValue([name, value], sides);
    return said === null ? [] : [name, said];
  });
  const way = ['X-Forwarded-Proto', 'http', ...(client === undefined ? [] : ['X-Forwarded-For', client])];
  return ['Host', insideHost(sides), ...passed, ...way, ...framing];
};

/** How the body of a request is delimited on its next connection. */
export const framingOf = (given: { readonly method: string; readonly chunked: boolean; readonly sized: boolean }): string[] => {
  if (given.chunked) return ['Transfer-Encoding', 'chunked'];
  return given.sized || ['GET', 'HEAD', 'DELETE', 'OPTIONS'].includes(given.method) ? [] : ['Content-Length', '0'];
};

const location = (value: string, sides: Sides): string => {
  if (!URL.canParse(value)) return value;
  const url = new URL(value);
  const port = url.port === '' ? 80 : Number(url.port);
  if (url.protocol !== 'http:' || !ITSELF.test(url.hostname) || port !== sides.port) return value;
  return `${sides.origin}${url.pathname}${url.search}${url.hash}`;
};

/** A cookie of the program is for this host alone; none is set over the one that lets the browser in. */
const setCookie = (value: string): string | null => {
  const [first = '', ...attributes] = value.split(';');
  if (/^\s*orrery[_-]/i.test(first)) return null;
  return [first, ...attributes.filter((attribute) => !/^\s*domain\s*(=|$)/i.test(attribute))].join(';');
};

const responseValue = ([name, value]: Pair, sides: Sides): string | null => {
  switch (name.toLowerCase()) {
    case 'location':
    case 'content-location':
      return location(value, sides);
    case 'set-cookie':
      return setCookie(value);
    default:
      return value;
  }
};

/** Headers of the answer to the browser. */
export const responseHeaders = (raw: readonly string[], sides: Sides): string[] => {
  const pairs = pairsOf(raw);
  const left = ofOneConnection(pairs);
  return pairs.flatMap((pair) => {
    if (left.has(pair[0].toLowerCase())) return [];
    const said = responseValue(pair, sides);
    return said === null ? [] : [pair[0], said];
  });
};

/** The secret in the cookies of a request; null: none. */
export const secretOf = (cookie: string | undefined): string | null => {
  for (const one of (cookie ?? '').split(';')) {
    const [name = '', value = ''] = one.trim().split('=');
    if (name === PREVIEW_COOKIE && /^[0-9a-f]{64}$/.test(value)) return value;
  }
  return null;
};
