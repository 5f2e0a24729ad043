// Standard input and output as the protocol's stream. A line that is too long is answered with an error and passed over;
// the next line is read as if nothing had been.
import { ndJsonStream, RequestError, type Stream } from '@agentclientprotocol/sdk';
import { lineSieve } from '../../line-sieve.ts';
import type { World } from '../../world.ts';
import { acpLimits } from './limits.ts';

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
