import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { V5, openCommand } from './wire.ts';

const V4 = 'v4.channel.k8s.io';
const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/**
 * The cluster's end of the protocol, in small: it answers with what it read once its input has ended (version 5), or once it
 * has read `count` bytes (version 4, which has no word for the end). Offers what `speaks` says, its first choice first.
 */
const startServer = async (
  speaks: readonly string[],
  count: number,
): Promise<{ readonly url: string; readonly chosen: string[] }> => {
  const http = createServer();
  const chosen: string[] = [];
  const server = new WebSocketServer({
    server: http,
    handleProtocols: (offered) => speaks.find((one) => offered.has(one)) ?? false,
  });
  server.on('connection', (socket) => {
    chosen.push(socket.protocol);
    const parts: Buffer[] = [];
    const answer = (): void => {
      const bytes = Buffer.concat(parts);
      socket.send(Buffer.concat([Buffer.of(1), Buffer.from(`read ${bytes.length}`)]));
      socket.send(Buffer.concat([Buffer.of(2), Buffer.from('said')]));
      const status = { status: 'Failure', details: { causes: [{ reason: 'ExitCode', message: '7' }] } };
      socket.send(Buffer.concat([Buffer.of(3), Buffer.from(JSON.stringify(status))]), () => socket.close());
    };
    socket.on('message', (message: Buffer) => {
      if (message[0] === 0) parts.push(message.subarray(1));
      const ended = message[0] === 255 && message[1] === 0;
      if (ended || (socket.protocol !== V5 && Buffer.concat(parts).length >= count)) answer();
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  stops.push(() => {
    for (const client of server.clients) client.terminate();
    http.close();
  });
  return { url: `ws://127.0.0.1:${(http.address() as AddressInfo).port}`, chosen };
};

const ask = async (url: string, stdin: Uint8Array | Readable) => {
  const command = await openCommand({ url, options: {} }, { stdin, timeoutMs: 60_000 });
  const stdout = await text(command.stdio);
  return { protocol: command.protocol, stdout, stderr: command.stderr(), end: await command.ended };
};

describe('the remote command protocol', () => {
  const said = { stdout: 'read 6', stderr: 'said', end: { exitCode: 7 } };

  it('is version 5 where the cluster has it: the end of input is said, and output comes after it', async () => {
    const { url } = await startServer([V5, V4], Number.MAX_SAFE_INTEGER);
    for (const stdin of [Buffer.from('abcdef'), Readable.from([Buffer.from('abc'), Buffer.from('def')])])
      expect(await ask(url, stdin)).toEqual({ protocol: V5, ...said });
  });

  it('is version 5 also when input is held open and ended by who holds it', async () => {
    const { url } = await startServer([V5], 0);
    const command = await openCommand({ url, options: {} }, { stdin: 'open', timeoutMs: 60_000 });
    command.stdio.end('abcdef');
    expect([(await buffer(command.stdio)).toString(), await command.ended]).toEqual(['read 6', { exitCode: 7 }]);
  });

  it('is version 4 where the cluster has no other: nothing is sent that it has no word for', async () => {
    const { url, chosen } = await startServer([V4], 6);
    expect(await ask(url, Buffer.from('abcdef'))).toEqual({ protocol: V4, ...said });
    expect(chosen).toEqual([V4]);
  });

  it('is refused by a cluster that speaks neither', async () => {
    const { url } = await startServer(['v1.channel.k8s.io'], 0);
    await expect(ask(url, Buffer.from('x'))).rejects.toThrow();
  });
});
