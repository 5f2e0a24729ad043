import { describe, expect, it } from 'vitest';
import type { Input, World } from '../../world.ts';
import { mcpLimits } from './limits.ts';
import { programPipe, readLine } from './pipe.ts';

/** A pipe whose program is a test. */
const bench = () => {
  let input: Input | null = null;
  let released = false;
  const written: { id: unknown; error?: { code: number; message: string; data: { lines: string[] } } }[] = [];
  const stdin = { follow: (given: Input) => ((input = given), () => (released = true)) } as unknown as World['stdin'];
  const stdout = {
    bytes: async (piece: Uint8Array) =>
      void written.push(JSON.parse(Buffer.from(piece).toString('utf8')) as (typeof written)[number]),
  } as unknown as World['stdout'];
  const pipe = programPipe({ stdin, stdout });
  const messages: unknown[] = [];
  pipe.transport.onmessage = (message) => void messages.push(message);
  const send = (text: string): void => void input?.onBytes(Buffer.from(text));
  return { pipe, written, messages, send, end: () => input?.onEnd(), isReleased: () => released };
};

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };

describe('what a program sends', () => {
  it('is read line by line, whatever pieces it comes in', async () => {
    const { pipe, messages, send } = bench();
    await pipe.transport.start();
    const text = `${JSON.stringify(ping)}\r\n\n${JSON.stringify({ ...ping, id: 2 })}\n`;
    for (const piece of [text.slice(0, 10), text.slice(10, 50), text.slice(50)]) send(piece);
    expect(messages).toEqual([ping, { ...ping, id: 2 }]);
  });

  it('and is no message is refused with three lines, and what comes after it is read', async () => {
    const { pipe, messages, written, send } = bench();
    await pipe.transport.start();
    send(`{"jsonrpc":"2.0"\n[]\n"x"\n${'['.repeat(100_000)}\n`);
    send('x'.repeat(mcpLimits.messageBytes + 1));
    send(`\n${JSON.stringify(ping)}\n`);
    expect(messages).toEqual([ping]);
    expect(written.map(({ id, error }) => [id, error?.code, error?.data.lines.length])).toEqual([
      [null, -32_700, 3],
      [null, -32_600, 3],
      [null, -32_600, 3],
      [null, -32_700, 3],
      [null, -32_600, 3],
    ]);
    expect(written.at(-1)?.error?.message).toBe('A message was too long and was not read.');
    expect(readLine(Buffer.from('{"jsonrpc":"2.0","method":"x","params":7}'))).toBe(-32_600);
  });

  it('nothing but noise is left after a number of lines, with the reason; its end is an end', async () => {
    const noisy = bench();
    await noisy.pipe.transport.start();
    noisy.send('noise\n'.repeat(mcpLimits.badLines + 50));
    expect(await noisy.pipe.closed).toMatchObject({ code: 'invalid_input' });
    expect([noisy.written.length, noisy.isReleased()]).toEqual([mcpLimits.badLines, true]);
    const plain = bench();
    await plain.pipe.transport.start();
    plain.end();
    expect(await plain.pipe.closed).toBeNull();
  });
});
