import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { hostRequest, type HostRequest } from './request.ts';

let server: Server;
const open = new Set<Socket>();
afterEach(() => {
  for (const socket of open) socket.destroy();
  open.clear();
  server.close();
});

/** Asks a host that says this, byte for byte, and leaves the connection open; answers how it ended. */
const ask = async (say: (socket: Socket) => void, bounds: Partial<HostRequest> = {}): Promise<string> => {
  server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => say(socket));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = new URL(`http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/`);
  const asked = hostRequest({ url, method: 'GET', headers: {}, timeoutMs: 10_000, maxBytes: 1_000, ...bounds });
  return asked.then(
    ({ status, body }) => `${status} ${body.toString('utf8')}`,
    (thrown: Error) => thrown.message,
  );
};

const drip = (socket: Socket): void => {
  const timer = setInterval(() => socket.write('a'), 20);
  socket.on('close', () => clearInterval(timer));
};
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n';
const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n';

describe('a request to a code host', () => {
  it.each([
    ['with a name of it', `${SWITCH}Upgrade: x\r\n\r\nabc`],
    ['without one', `${SWITCH}\r\n`],
    ['and then says more', `${SWITCH}Upgrade: h2c\r\n\r\n${OK}`],
  ])('ends when the host switches to another protocol, %s', async (_what, said) => {
    const ended = await ask((socket) => void socket.write(said), { timeoutMs: 1_000 });
    expect(ended).toMatch(/switches to another protocol|without an answer|hang up|^101 $/);
  });

  it.each([
    ['closes at once', (socket: Socket) => void socket.end(), /hang up|without an answer|RESET/],
    ['closes within its answer', (socket: Socket) => void socket.end(`${OK}abc`), /aborted|RESET/],
    ['is no web server', (socket: Socket) => void socket.write('SSH-2.0-x\r\n'), /Parse Error/],
  ])('ends when the host %s', async (_what, say, why) => {
    expect(await ask(say)).toMatch(why);
  });

  const stalls: readonly (readonly [string, (socket: Socket) => void])[] = [
    ['before the answer', () => undefined],
    ['within the answer', (socket) => void socket.write(`${OK}abc`)],
    ['and drips its answer', (socket) => (socket.write(OK), drip(socket))],
    [
      'and says again and again that one may go on',
      (socket) => {
        const timer = setInterval(() => socket.write('HTTP/1.1 100 Continue\r\n\r\n'), 20);
        socket.on('close', () => clearInterval(timer));
      },
    ],
  ];
  it.each(stalls)('ends with its time, and with the node, when the host stalls %s', async (_what, say) => {
    expect(await ask(say, { timeoutMs: 200 })).toBe('it took longer than 0.2 s');
    server.close();
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 200);
    expect(await ask(say, { signal: stop.signal })).toBe('it was broken off');
  });

  it('ends with the silence that is allowed, before the answer and within it', async () => {
    for (const say of [() => undefined, (socket: Socket) => void socket.write(`${OK}abc`)]) {
      expect(await ask(say, { silenceMs: 200 })).toBe('it said nothing for 0.2 s');
      server.close();
    }
  });

  it('ends at the bound of what is read', async () => {
    const piece = `0ff\r\n${'a'.repeat(255)}\r\n`;
    const many = (socket: Socket) => void socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${piece.repeat(6)}`);
    expect(await ask(many)).toBe('it answered more than 1000 bytes');
  });
});
