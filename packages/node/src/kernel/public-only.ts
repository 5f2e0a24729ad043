import type { LookupFunction } from 'node:net';
import { isPrivateAddress } from './host-name.ts';

/** A name that leads to an address inside is refused where the connection is made: it cannot lead elsewhere a moment later. */
export const publicOnly =
  (lookup: LookupFunction): LookupFunction =>
  (host, options, answer) =>
    lookup(host, options, (error, address, family) => {
      const all = typeof address === 'string' ? [address] : address.map((one) => one.address);
      if (error === null && all.some(isPrivateAddress)) answer(new Error(`${host} is an address of a private network`), '', 0);
      else answer(error, address, family);
    });
