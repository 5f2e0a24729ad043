import { createServer, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { until } from './stage.ts';
import type { Stage } from './stage.ts';

/** Listens on any port, says which, and answers what it was told when that is over. */
const echo = `require('node:net').createServer({ allowHalfOpen: true }, (s) => { let t = ''; s.on('data', (d) => (t += d)).on('end', () => s.end('inside heard ' + t)).on('error', () => {}) }).listen(0, '127.0.0.1', function () { console.log(this.address().port) })`;

/** Ports of an environment, from outside to its own programs and to no others. */
export const portCases = (stage: () => Stage): void => {
  it('a port leads to the program that listens there, both ways and with half-close', async () => {
    const handle = await stage().start({ command: stage().venue.node.path, args: ['-e', echo] });
    let said = '';
    const reading = (async () => {
      for await (const { bytes } of handle.output('stdout', 0)) said += Buffer.from(bytes).toString();
    })();
    try {
      await until('it listens', () => said.includes('\n'), 60_000);
      const port = Number(said);
      const long = 'x'.repeat(1_000_000);
      const pipes = await Promise.all(['one', 'two', long].map(() => stage().environment.forward(port)));
      const answers = pipes.map((pipe, which) => {
        pipe.end(['one', 'two', long][which]);
        return text(pipe);
      });
      expect(await Promise.all(answers)).toEqual(['one', 'two', long].map((word) => `inside heard ${word}`));
    } finally {
      await handle.kill();
      await reading;
      await handle.finish();
    }
  });

  it('a port where only another program of the machine listens leads to nobody', async () => {
    const server = createServer((socket) => socket.end('the machine'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const handle = await stage().start({ command: 'sleep', args: ['600'] });
    try {
      const { port } = server.address() as AddressInfo;
      await expect(stage().environment.forward(port)).rejects.toMatchObject({ code: 'not_found' });
    } finally {
      server.close();
      await handle.kill();
      await handle.finish();
    }
  });
};
