// How the egress proxy says no: in the reason phrase and a header, which is all that some programs print, and in a text with
// the way out.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Host } from '../kernel/host-name.ts';

/** Who is to be talked to. */
export type Target = { readonly host: Host; readonly port: number };

export type Denial = { readonly status: 400 | 403 | 407 | 429 | 502; readonly reason: string };

/** What is said to one environment about one refusal. */
export type Refusal = { readonly denial: Denial; readonly target: Target | null; readonly taskId: string | null };

const PHRASES: Readonly<Record<Denial['status'], string>> = {
  400: 'bad-request',
  403: 'egress-denied',
  407: 'egress-token-needed',
  429: 'egress-busy',
  502: 'egress-unreachable',
};

/** The kinds of RFC 9209, for the header `Proxy-Status`. */
const KINDS: Readonly<Record<Denial['status'], string>> = {
  400: 'http_request_error',
  403: 'http_request_denied',
  407: 'http_request_denied',
  429: 'connection_limit_reached',
  502: 'destination_unavailable',
};

/** `egress-denied: HOST (why)`, which programs print as the reason of their failure. */
const phraseOf = ({ denial, target }: Refusal): string =>
  target === null ? PHRASES[denial.status] : `${PHRASES[denial.status]}: ${target.host.text} (${denial.reason})`;

/** How a rule for a target is written. */
const ruleFor = ({ host, port }: Target): string => {
  const name = host.text.includes(':') ? `[${host.text}]` : host.text;
  return port === 443 || port === 80 ? name : `${name}:${port}`;
};

const fixOf = ({ denial, target, taskId }: Refusal): string => {
  if (denial.status !== 403 || target === null) return '';
  const rule = ruleFor(target);
  const now = taskId === null ? '' : `, or while it runs: orrery egress allow ${taskId} ${rule}`;
  return ` To allow it, add ${rule} to egress in the project's file${now}`;
};

const textOf = (refusal: Refusal): string => {
  const { denial, target } = refusal;
  const where = target === null ? 'The request' : `${target.host.text}:${target.port}`;
  return `Orrery: ${where} is refused: ${denial.reason}.${fixOf(refusal)}\n`;
};

const headersOf = (refusal: Refusal): Readonly<Record<string, string>> => ({
  'Content-Type': 'text/plain; charset=utf-8',
  'Proxy-Status': `orrery; error=${KINDS[refusal.denial.status]}; details="${headerText(textOf(refusal).trim())}"`,
  ...(refusal.denial.status === 407 ? { 'Proxy-Authenticate': 'Basic realm="orrery egress"' } : {}),
});

/** A header holds printable ASCII, and a quoted string in it neither quote nor backslash as they are. */
const headerText = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, '?').replaceAll(/["\\]/g, "'");

/** Ends a tunnel before it begins. */
export const refuseTunnel = (client: Duplex, refusal: Refusal): void => {
  const body = textOf(refusal);
  const headers = { ...headersOf(refusal), 'Content-Length': String(Buffer.byteLength(body)), Connection: 'close' };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  client.end(`HTTP/1.1 ${refusal.denial.status} ${phraseOf(refusal)}\r\n${lines.join('')}\r\n${body}`);
};

/** Answers a plain request with a refusal. */
export const refuseRequest = (request: IncomingMessage, response: ServerResponse, refusal: Refusal): void => {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const { status } = refusal.denial;
  // Where there are too many connections, this one is not kept either.
  const headers = { ...headersOf(refusal), ...(request.complete && status !== 429 ? {} : { Connection: 'close' }) };
  response.writeHead(status, phraseOf(refusal), headers);
  response.end(textOf(refusal));
};
