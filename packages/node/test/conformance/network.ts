import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { expect, it } from 'vitest';
import { askNode, until } from './stage.ts';
import type { Expectations, Stage } from './stage.ts';

type Canary = {
  readonly ports: { readonly tcp4: number; readonly tcp6: number; readonly udp4: number; readonly any: number };
  readonly heard: string[];
  close(): void;
};

const hasIpv6 = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'));

/** Listens on the host where a confined program might call, and notes everything that arrives. */
const startCanary = async (): Promise<Canary> => {
  const heard: string[] = [];
  const tcp = (host: string) =>
    new Promise<{ port: number; close: () => void }>((resolve, reject) => {
      const server = createServer((socket) => {
        heard.push(`tcp ${host}`);
        socket.on('error', () => undefined);
        socket.end('canary');
      });
      server
        .once('error', reject)
        .listen(0, host, () => resolve({ port: (server.address() as { port: number }).port, close: () => server.close() }));
    });
  const socket = createSocket('udp4').on('message', () => heard.push('udp'));
  await new Promise<void>((resolve) => {
    socket.bind(0, '127.0.0.1', resolve);
  });
  const [tcp4, any, tcp6] = await Promise.all([tcp('127.0.0.1'), tcp('0.0.0.0'), hasIpv6 ? tcp('::1') : null]);
  return {
    heard,
    ports: { tcp4: tcp4.port, tcp6: tcp6?.port ?? 0, udp4: socket.address().port, any: any.port },
    close: () => {
      for (const one of [tcp4, any, tcp6]) one?.close();
      socket.close();
    },
  };
};

/** An address of this machine that is not loopback, or one that belongs to nobody. */
const outsideAddress = (): string =>
  Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4')?.address ?? '192.0.2.1';

const callEverywhere = (ports: Canary['ports']): string => `
  import net from 'node:net'; import dgram from 'node:dgram'; import dns from 'node:dns/promises'; import http from 'node:http';
  const ports = ${JSON.stringify(ports)};
  const call = (host, port) => new Promise((resolve) => {
    const s = net.connect({ host, port }, () => { s.destroy(); resolve('connected'); });
    s.setTimeout(2000, () => { s.destroy(); resolve('timeout'); }); s.on('error', (e) => resolve(e.code));
  });
  const send = (port, host) => new Promise((resolve) => {
    const s = dgram.createSocket('udp4'); s.on('error', (e) => resolve(e.code));
    s.send('canary', port, host, (e) => { s.close(); resolve(e ? e.code : 'sent'); });
  });
  const answers = {
    tcp4: await call('127.0.0.1', ports.tcp4), any: await call(${JSON.stringify(outsideAddress())}, ports.any),
    tcp6: ports.tcp6 === 0 ? 'none' : await call('::1', ports.tcp6), udp: await send(ports.udp4, '127.0.0.1'),
    dns: await dns.lookup('canary.invalid.example').then(() => 'resolved', (e) => e.code),
    resolver: await send(53, '127.0.0.53'),
  };
  console.log(JSON.stringify(answers));`;

/** A web server and its client in one program, as a test suite has them. */
const OWN_SERVER = `
  import http from 'node:http';
  import { networkInterfaces } from 'node:os';
  const server = http.createServer((q, s) => s.end('own ' + q.url));
  // Engines give a container without a network no IPv6 either, not even its own.
  const six = Object.values(networkInterfaces()).flat().some(({ address }) => address === '::1');
  const results = [];
  for (const host of ['127.0.0.1', ...(six ? ['::1'] : []), 'localhost']) {
    await new Promise((r, j) => server.listen(0, host, r).once('error', j)).catch(() => null);
    if (!server.listening) { results.push('cannot listen on ' + host); continue; }
    const { port } = server.address();
    results.push(await (await fetch('http://' + (host === '::1' ? '[::1]' : host) + ':' + port + '/x')).text());
    server.closeAllConnections(); await new Promise((r) => server.close(r));
  }
  console.log(JSON.stringify(results));`;

/** What a program can reach: the broker, itself, and (where promised) nothing else. */
export const networkCases = (stage: () => Stage, expectations: Expectations): void => {
  const confined = expectations.confines.network;

  it(
    confined
      ? 'canaries on every kind of port of the host hear nothing'
      : 'canaries of the host are heard: nothing is confined, and the guarantees say so',
    { timeout: 60_000 },
    async () => {
      const canary = await startCanary();
      try {
        const answers = (await askNode(stage(), callEverywhere(canary.ports))) as Record<string, string>;
        if (!confined) await until('the calls', () => canary.heard.length >= (hasIpv6 ? 4 : 3));
        const expected = confined ? [] : ['tcp 0.0.0.0', 'tcp 127.0.0.1', ...(hasIpv6 ? ['tcp ::1'] : []), 'udp'];
        expect([...new Set(canary.heard)].toSorted()).toEqual(expected.toSorted());
        expect(Object.values(answers).filter((answer) => answer === 'connected')).toHaveLength(confined ? 0 : hasIpv6 ? 3 : 2);
        expect(answers.dns).not.toBe('resolved');
        expect(stage().environment.guarantees.find(({ guarantee }) => guarantee === 'network')?.held).toBe(confined);
      } finally {
        canary.close();
      }
    },
  );

  it('the broker is reached through its endpoint, byte for byte', async () => {
    const url = `${stage().environment.brokerEndpoint}/models/x?y=1`;
    expect(await askNode(stage(), `console.log(JSON.stringify(await (await fetch(${JSON.stringify(url)})).text()))`)).toBe(
      'broker heard /models/x?y=1',
    );
    expect(stage().brokerCalls.at(-1)).toBe('GET /models/x?y=1');
  });

  it('two programs of one environment reach the broker at the same time, and the second still when the first has ended', async () => {
    const url = JSON.stringify(`${stage().environment.brokerEndpoint}/again`);
    const ask = `const r = []; const ask = async () => r.push((await fetch(${url}, { headers: { connection: 'close' } })).status);`;
    const first = await stage().start({
      command: stage().venue.node.path,
      args: ['--input-type=module', '-e', `${ask} await ask(); console.log(r.join())`],
    });
    const second = stage().run({
      command: stage().venue.node.path,
      args: [
        '--input-type=module',
        '-e',
        `${ask} await ask(); await new Promise((d) => setTimeout(d, 800)); await ask(); console.log(r.join())`,
      ],
    });
    expect((await first.wait()).exitCode).toBe(0);
    await first.finish();
    const { stdout, stderr } = await second;
    expect([stdout.toString(), stderr.toString()]).toEqual(['200,200\n', '']);
  });

  it('a test suite’s own servers on loopback work', async () => {
    const answers = (await askNode(stage(), OWN_SERVER)) as string[];
    const least = hasIpv6 && expectations.seesNeighbours !== true ? 3 : 2;
    expect(answers).toEqual(Array.from({ length: Math.max(answers.length, least) }, () => 'own /x'));
  });
};
