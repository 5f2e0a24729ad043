import { createServer, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { connectToOwnListener, parseListeners } from './own-listener.ts';

describe.runIf(process.platform === 'linux')('a port of an environment', () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });
  const listen = (host: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const server = createServer((socket) => socket.end('mine'));
      servers.push(server);
      server.once('error', reject).listen(0, host, () => resolve((server.address() as { port: number }).port));
    });

  it.each(['127.0.0.1', '0.0.0.0'])('leads to its own program that listens on %s', async (host) => {
    const port = await listen(host);
    const socket = await connectToOwnListener({ environmentId: 'env_1', port, pids: async () => [process.pid] });
    expect(await text(socket)).toBe('mine');
  });

  it('leads to nobody when another process listens there', async () => {
    const port = await listen('127.0.0.1');
    const asked = connectToOwnListener({ environmentId: 'env_1', port, pids: async () => [process.ppid] });
    await expect(asked).rejects.toMatchObject({ code: 'not_found' });
  });

  it('leads to nobody when its program was replaced while the connection was made', async () => {
    const port = await listen('127.0.0.1');
    let asked = 0;
    const pids = async () => (++asked === 1 ? [process.pid] : []);
    await expect(connectToOwnListener({ environmentId: 'env_1', port, pids })).rejects.toMatchObject({ code: 'not_found' });
    expect(asked).toBe(2);
  });

  it('is said to have no listener when it has none', async () => {
    const port = await listen('127.0.0.1');
    servers.splice(0).forEach((server) => server.close());
    const asked = connectToOwnListener({ environmentId: 'env_1', port, pids: async () => [process.pid] });
    await expect(asked).rejects.toMatchObject({ code: 'not_found', message: expect.stringContaining(`port ${port}`) });
  });
});

describe('the table of sockets', () => {
  it('is read for listeners that loopback leads to', () => {
    const table = [
      '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
      '   0: 0100007F:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 111 1 0 100 0 0 10 0',
      '   1: 0100007F:0BB8 0100007F:D2F0 01 00000000:00000000 00:00000000 00000000  1000        0 222 1 0 20 4 30 10 -1',
      '   2: 0A00000A:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 333 1 0 100 0 0 10 0',
      '   3: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 444 1 0 100 0 0 10 0',
    ];
    expect(parseListeners(table.join('\n'))).toEqual([
      { address: '127.0.0.1', port: 3000, inode: '111' },
      { address: '::', port: 8080, inode: '444' },
    ]);
  });
});
