// A line to the cluster of the tests that a test cuts as it likes.
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { testKubeconfig } from './cluster.ts';

/** The line. */
export type CutLine = {
  /** Ends every connection at once; answers how many there were. */
  cut(): number;
  close(): Promise<void>;
};

/** Opens a line, and writes a kubeconfig that leads through it to `file`. */
export const openCutLine = async (file: string): Promise<CutLine> => {
  const config = readFileSync(testKubeconfig(), 'utf8');
  const [, port = ''] = /server: https:\/\/127\.0\.0\.1:(\d+)/.exec(config) ?? [];
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(port), '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => undefined).once('close', () => other.destroy());
      one.pipe(other);
    }
    open.add(near);
    near.once('close', () => open.delete(near));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port: here } = server.address() as AddressInfo;
  writeFileSync(file, config.replace(/server: .*/, `server: https://127.0.0.1:${here}`), { mode: 0o600 });
  const cut = (): number => {
    const count = open.size;
    for (const socket of open) socket.destroy();
    return count;
  };
  return {
    cut,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        cut();
      }),
  };
};
