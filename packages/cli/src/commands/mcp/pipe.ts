// Standard input and output as the protocol's transport. What is no message is answered with an error and passed over; the
// next line is read as if nothing had been. A program that sends nothing but such lines is left.
import { OrreryError } from '@orrery/protocol/errors';
import { deserializeMessage, serializeMessage, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/server';
import { lineSieve } from '../../line-sieve.ts';
import type { World } from '../../world.ts';
import { mcpLimits } from './limits.ts';

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;

const tooLong = new OrreryError('input_too_large', 'A message was too long and was not read.', {
  rule: `A message is one line of at most ${mcpLimits.messageBytes / 1024 / 1024} MiB.`,
  fix: 'Put large texts into files, and name them.',
});
const noMessage = new OrreryError('invalid_input', 'A line is no message of the Model Context Protocol.', {
  rule: 'Each line is one JSON-RPC 2.0 message.',
  fix: 'Let a program that speaks it start this one: orrery mcp --help',
});

/** An answer to what had no id that could be read. */
const refusal = (error: OrreryError, code: number): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message: error.message, data: { lines: error.toLines() } } })}\n`;

/** The message of a line, or the code of what is wrong with it; null: nothing stands there. */
export const readLine = (line: Uint8Array): JSONRPCMessage | number | null => {
  const text = Buffer.from(line).toString('utf8').trim();
  if (text === '') return null;
  try {
    return deserializeMessage(text);
  } catch (thrown) {
    return thrown instanceof SyntaxError || thrown instanceof RangeError ? PARSE_ERROR : INVALID_REQUEST;
  }
};

export type Pipe = {
  readonly transport: Transport;
  /** Resolves when the program closed its end, or was left for speaking something else: with the reason then. */
  readonly closed: Promise<OrreryError | null>;
};

export const programPipe = ({ stdin, stdout }: Pick<World, 'stdin' | 'stdout'>): Pipe => {
  const { promise: closed, resolve } = Promise.withResolvers<OrreryError | null>();
  let stop = (): void => undefined;
  let bad = 0;
  let open = true;
  const close = (why: OrreryError | null): void => {
    if (!open) return;
    open = false;
    stop();
    transport.onclose?.();
    resolve(why);
  };
  const write = (text: string): Promise<void> => stdout.bytes(Buffer.from(text));
  const refuse = (error: OrreryError, code: number): void => {
    void write(refusal(error, code)).catch(() => close(null));
    bad++;
    if (bad >= mcpLimits.badLines) close(noMessage);
  };
  const sieve = lineSieve(mcpLimits.messageBytes, () => refuse(tooLong, INVALID_REQUEST));
  const take = (line: Uint8Array): void => {
    const message = readLine(line);
    if (message === null || !open) return;
    if (typeof message === 'number') return refuse(noMessage, message);
    bad = 0;
    transport.onmessage?.(message);
  };
  const transport: Transport = {
    start: async () => {
      stop = stdin.follow({
        onBytes: (bytes) => {
          for (const line of sieve.push(bytes)) take(line);
          return undefined;
        },
        onEnd: () => close(null),
      });
    },
    // What cannot be written reaches nobody: the program is gone.
    send: (message) => write(serializeMessage(message)).catch(() => close(null)),
    close: async () => close(null),
  };
  return { transport, closed };
};
