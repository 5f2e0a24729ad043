// How the gateway knows a question of the node itself: by a word that only this process has. A login is for the program
// that it is of; the node's own questions are paid by a key.

import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Random } from '../kernel/random.ts';

const HEADER = 'x-orrery-own';

export type OwnQuestions = {
  /** The header of such a question; the provider never gets it. */
  readonly sign: Readonly<Record<string, string>>;
  readonly isOwn: (request: Pick<IncomingMessage, 'headers'>) => boolean;
};

/** Makes the word of this start. */
export const createOwnQuestions = (random: Random): OwnQuestions => {
  const word = Buffer.from(random.bytes(32)).toString('hex');
  return {
    sign: { [HEADER]: word },
    isOwn: ({ headers }) => {
      const said = headers[HEADER];
      return typeof said === 'string' && said.length === word.length && timingSafeEqual(Buffer.from(said), Buffer.from(word));
    },
  };
};
