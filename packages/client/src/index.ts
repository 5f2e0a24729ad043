import { clientOver, type Client, type ClientOptions } from './client.ts';
import { httpTransport } from './http-transport.ts';

export { type CallRequest, type Client, type ClientOptions, type TokenSource } from './client.ts';
export { type FollowOptions, type Hello, type Pace } from './follow.ts';
export { createLiveRows, type LiveRow, type LiveRows } from './live-rows.ts';
export { httpTransport } from './http-transport.ts';
export { clientLimits } from './limits.ts';
export { routes, type Route } from './routes.ts';
export { openUpgrade, type UpgradeRequest } from './upgrade.ts';
export { TransportFailure, type Transport, type TransportAnswer, type TransportRequest } from './transport.ts';

/** Makes a client of the node at `url` (`http://127.0.0.1:4747`); over node:http unless another transport is given. */
export const createClient = (
  options: Omit<ClientOptions, 'transport'> & { readonly transport?: ClientOptions['transport'] },
): Client => clientOver({ ...options, transport: options.transport ?? httpTransport() });
