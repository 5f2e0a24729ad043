import { OrreryError } from '@orrery/protocol/errors';
import type { Request, Result } from './messages.ts';
import type { WriterPort } from './writer-port.ts';

/**
 * Requests of one group in order, in as few messages as can be: what has no answer of its own (begin, savepoint, release)
 * waits for the next that has. When one of those fails the group is broken, and the commit says so.
 */
export type WriterPipe = {
  /** Goes with the next `send`. */
  later(request: Request): void;
  /** Sends what waits and this, and answers this one's result. */
  send(request: Request): Promise<Result>;
};

export const createWriterPipe = (writer: Pick<WriterPort, 'send'>): WriterPipe => {
  let waiting: Request[] = [];
  return {
    later: (request) => void waiting.push(request),
    send: async (request) => {
      const requests = [...waiting, request];
      waiting = [];
      const result = (await writer.send(requests)).at(-1);
      if (result === undefined) throw new OrreryError('internal', 'The writer gave no answer.');
      return result;
    },
  };
};
