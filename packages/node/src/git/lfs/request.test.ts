import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import type { AddressInfo, LookupFunction } from 'node:net';
import { expect, it } from 'vitest';
import { lfsRequest } from './request.ts';

const tls = (name: string): string => readFileSync(join(import.meta.dirname, '../../../test/tls', name), 'utf8');
const lookup: LookupFunction = (_host, { all }, found) =>
  all === true ? found(null, [{ address: '127.0.0.1', family: 4 }]) : found(null, '127.0.0.1', 4);

it('a request for files is over when the server switches to another protocol', async () => {
  const server = createServer({ key: tls('server.key'), cert: tls('server.pem') }, ({ socket }) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const url = new URL(`https://push.egress.test:${(server.address() as AddressInfo).port}/`);
  const net = { signal: new AbortController().signal, certificates: tls('ca.pem'), lookup, trustedHost: url.host };
  await expect(lfsRequest(net, { url, method: 'GET', headers: {} })).rejects.toThrow('another protocol');
  server.close();
  server.closeAllConnections();
});
