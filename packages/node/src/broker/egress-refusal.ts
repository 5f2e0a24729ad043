// How the egress proxy says no: in the reason phrase, which programs print, and in a text with the way out.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Host } from './host-name.ts';

/** Who is to be talked to. */
export type Target = { readonly host: Host; readonly port: number };

export type Denial = { readonly status: 400 | 403 | 407 | 429 | 502; readonly reason: string };

const PHRASES: Readonly<Record<Denial['status'], string>> = {
  400: 'bad-request',
  403: 'egress-denied',
  407: 'egress-token-needed',
  429: 'egress-busy',
  502: 'egress-unreachable',
};

/** `egress-denied: HOST`, which programs print as the reason of their failure. */
const phraseOf = ({ status }: Denial, target: Target | null): string =>
  target === null ? PHRASES[status] : `${PHRASES[status]}: ${target.host.text}`;

const textOf = ({ reason, status }: Denial, target: Target | null): string => {
  const where = target === null ? 'The request' : `${target.host.text}:${target.port}`;
  const fix =
    status === 403 && target !== null
      ? ` To allow it, add ${target.port === 443 || target.port === 80 ? target.host.text : `${target.host.text}:${target.port}`} to egress in the project's file.`
      : '';
  return `Orrery: ${where} is refused: ${reason}.${fix}\n`;
};

/** Ends a tunnel before it begins. */
export const refuseTunnel = (client: Duplex, denial: Denial, target: Target | null): void => {
  const body = textOf(denial, target);
  const challenge = denial.status === 407 ? 'Proxy-Authenticate: Basic realm="orrery egress"\r\n' : '';
  client.end(
    `HTTP/1.1 ${denial.status} ${phraseOf(denial, target)}\r\n${challenge}Content-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
};

/** Answers a plain request with a refusal. */
export const refuseRequest = (
  request: IncomingMessage,
  response: ServerResponse,
  { denial, target }: { readonly denial: Denial; readonly target: Target | null },
): void => {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const challenge = denial.status === 407 ? { 'proxy-authenticate': 'Basic realm="orrery egress"' } : {};
  response.writeHead(denial.status, phraseOf(denial, target), {
    'content-type': 'text/plain',
    ...challenge,
    ...(request.complete ? {} : { connection: 'close' }),
  });
  response.end(textOf(denial, target));
};
