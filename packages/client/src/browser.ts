import { clientOver, type Client, type ClientOptions } from './client.ts';
import { fetchTransport } from './fetch-transport.ts';

export { type CallRequest, type Client, type ClientOptions, type TokenSource } from './client.ts';
export { fetchTransport, type Fetch } from './fetch-transport.ts';
export { type FollowOptions, type Hello } from './follow.ts';
export { createLiveRows, type LiveRow, type LiveRows } from './live-rows.ts';

/** Makes a client of the node at `url` over `fetch`; imports nothing of Node. */
export const createClient = (
  options: Omit<ClientOptions, 'transport'> & { readonly transport?: ClientOptions['transport'] },
): Client => clientOver({ ...options, transport: options.transport ?? fetchTransport() });
