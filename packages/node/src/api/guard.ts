import { isIP } from 'node:net';
import { OrreryError } from '@orrery/protocol/errors';

/** Host names a request may ask for, beside every literal address and `localhost`. */
export type AllowedHosts = readonly string[];

/**
 * Refuses requests that a web page could have sent by DNS rebinding or across origins: the `Host` must be an address or a
 * name of this node (a rebound name is neither), and an `Origin`, when a browser sends one, must be that same host.
 * Throws `forbidden`.
 */
export const checkOrigin = (request: { host: string | undefined; origin: string | undefined }, allowed: AllowedHosts): void => {
  const host = hostName(request.host);
  if (host === null || !(isAddress(host) || host === 'localhost' || allowed.includes(host))) throw foreignHost();
  if (request.origin === undefined) return;
  let origin: URL;
  try {
    origin = new URL(request.origin);
  } catch {
    throw foreignOrigin();
  }
  if (origin.host !== request.host?.toLowerCase() || !/^https?:$/.test(origin.protocol)) throw foreignOrigin();
};

const isAddress = (host: string): boolean => isIP(host.replace(/^\[(.*)\]$/, '$1')) !== 0;

/** The name of a Host header without its port, in lower case; null when there is none or it is malformed. */
const hostName = (header: string | undefined): string | null => {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i.exec(header ?? '');
  return match?.[1]?.toLowerCase() ?? null;
};

const foreignHost = (): OrreryError =>
  new OrreryError('forbidden', 'The request asks for a host that this node is not.', {
    rule: 'The Host header is an address, "localhost" or the configured name.',
    fix: 'Use the url that "orrery status" prints.',
  });

const foreignOrigin = (): OrreryError =>
  new OrreryError('forbidden', 'The request comes from the page of another site.', {
    rule: 'Browsers may call this node from its own pages only.',
  });

/** Addresses that only this machine can reach. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host === '[::1]' || (isIP(host) === 4 && host.startsWith('127.'));

/** Refuses to listen where others can reach, unless that was said aloud. */
export const checkBind = ({ host, insecureBind }: { host: string; insecureBind: boolean }): void => {
  if (isLoopback(host) || insecureBind) return;
  throw new OrreryError('refused_by_policy', `The node does not listen on ${host}: others could read its traffic.`, {
    rule: 'Without TLS the node listens on loopback addresses only.',
    fix: 'Put a TLS proxy in front of 127.0.0.1, or say it aloud: orrery up --insecure-bind',
  });
};
