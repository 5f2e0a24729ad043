import { lookup as systemLookup } from 'node:dns';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { isPrivateAddress } from '../../kernel/host-name.ts';
import { onFailure } from '../../kernel/request-failure.ts';
import { publicOnly } from '../../kernel/public-only.ts';
import { LFS_SILENCE_MS } from '../limits.ts';

/** What every request of one fetch has. `lookup` resolves names. */
export type LfsNet = {
  readonly signal: AbortSignal;
  readonly certificates?: string | undefined;
  readonly lookup?: LookupFunction;
  /** The host that the operator trusts by the remote: it alone may be a private address. */
  readonly trustedHost: string;
};

type Asked = {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

/** Makes one request over https; redirects are the caller's. Rejects with the system's error. */
export const lfsRequest = (net: LfsNet, { url, method, headers, body }: Asked): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const lookup = net.lookup ?? systemLookup;
    const trusted = url.host === net.trustedHost;
    const literal = url.hostname.replace(/^\[|\]$/g, '');
    if (url.protocol !== 'https:') return reject(new Error(`${url.protocol} is not https`));
    if (!trusted && isIP(literal) !== 0 && isPrivateAddress(literal))
      return reject(new Error(`${literal} is an address of a private network`));
    const sent = request(
      url,
      {
        method,
        headers: {
          'user-agent': 'orrery',
          ...headers,
          ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
        },
        signal: net.signal,
        timeout: LFS_SILENCE_MS,
        agent: false,
        lookup: trusted ? lookup : publicOnly(lookup),
        ...(net.certificates === undefined ? {} : { ca: net.certificates }),
      },
      resolve,
    );
    sent.on('timeout', () => sent.destroy(new Error(`${url.host} said nothing for ${LFS_SILENCE_MS / 1000} s`)));
    onFailure(sent, reject);
    sent.end(body);
  });
