// Standard input and output as the protocol's stream. A line that is too long is answered with an error and passed over;
// the next line is read as if nothing had been.
import { ndJsonStream, RequestError, type Stream } from '@agentclientprotocol/sdk';
import type { World } from '../../world.ts';
import { acpLimits } from './limits.ts';

const LINE_FEED = 0x0a;

type Sieve = { push(bytes: Uint8Array): Uint8Array[] };

/** Lets lines through up to a length; a longer one is told once and left out. */
export const lineSieve = (most: number, onTooLong: () => void): Sieve => {
  let held: Uint8Array[] = [];
  let length = 0;
  let dropping = false;
  const take = (piece: Uint8Array): void => {
    length += piece.byteLength;
    if (length > most) {
      if (!dropping) onTooLong();
      dropping = true;
      held = [];
    }
    if (!dropping) held.push(piece);
  };
  const whole = (): Uint8Array[] => {
    const line = dropping ? [] : [Buffer.concat(held)];
    held = [];
    length = 0;
    dropping = false;
    return line;
  };
  return {
    push: (bytes) => {
      const lines: Uint8Array[] = [];
      let from = 0;
      for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, from)) {
        take(bytes.subarray(from, end + 1));
        lines.push(...whole());
        from = end + 1;
      }
      if (from < bytes.byteLength) take(bytes.slice(from));
      return lines;
    },
  };
};

/** The stream of an editor; `close` stops reading. */
export const editorPipe = (world: Pick<World, 'stdin' | 'stdout'>): { readonly stream: Stream; close(): void } => {
  const write = (piece: Uint8Array): Promise<void> => world.stdout.bytes(piece);
  const tooLong = (): void => {
    const { code, message, data } = RequestError.invalidRequest({ lines: tooLongLines }, tooLongLines[0]);
    void write(Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message, data } })}\n`)).catch(
      () => undefined,
    );
  };
  const sieve = lineSieve(acpLimits.messageBytes, tooLong);
  let stop = (): void => undefined;
  let resume: (() => void) | null = null;
  const input = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        let open = true;
        const release = world.stdin.follow({
          onBytes: (bytes) => {
            for (const line of sieve.push(bytes)) if (open) controller.enqueue(line);
            if ((controller.desiredSize ?? 1) > 0) return undefined;
            return new Promise((resolve) => (resume = resolve));
          },
          onEnd: () => {
            if (open) controller.close();
            open = false;
          },
        });
        stop = () => {
          release();
          open = false;
        };
      },
      pull: () => {
        resume?.();
        resume = null;
      },
      cancel: () => stop(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 1024 * 1024 }),
  );
  const output = new WritableStream<Uint8Array>({ write });
  return { stream: ndJsonStream(output, input, { maxMessageBytes: acpLimits.messageBytes }), close: () => stop() };
};

const tooLongLines = [
  'A message was too long and was not read.',
  `A message has at most ${acpLimits.messageBytes / 1024 / 1024} MiB.`,
  'Link large files instead of putting them into the prompt.',
] as const;
