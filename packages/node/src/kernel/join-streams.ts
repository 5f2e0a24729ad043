import { pipeline, type Duplex } from 'node:stream';

/** More than two pipelines and what the owners of the streams add. */
const LISTENERS = 32;

/**
 * Passes bytes both ways until both sides have ended; a side that ends well leaves the other open. A fault of one ends the
 * other. Resolves when it is over.
 */
export const joinStreams = (one: Duplex, other: Duplex): Promise<void> =>
  new Promise((resolve) => {
    let left = 2;
    // Each pipeline listens to both ends.
    for (const stream of [one, other]) stream.setMaxListeners(LISTENERS);
    const ended = (fault: Error | null | undefined): void => {
      if (fault !== null && fault !== undefined) for (const stream of [one, other]) stream.destroy();
      left -= 1;
      if (left === 0) resolve();
    };
    pipeline(one, other, ended);
    pipeline(other, one, ended);
  });
