// A node that is to die at a named point.
import { OrreryError } from '@orrery/protocol';
import type { Life } from './life.ts';
import { pause } from './wait.ts';

/** Longest wait for a point: programs of a busy machine begin slowly. */
const POINT_MS = 90_000;

/** A call that the node may not live to answer. */
export const asked = async (work: Promise<unknown>): Promise<void> => {
  await work.catch((thrown: unknown) => {
    if (!(thrown instanceof OrreryError)) throw thrown;
  });
};

/** Resolves when the node came to the point and died of it. */
export const died = async (life: Life, point: string): Promise<void> => {
  const end = await Promise.race([life.ended, pause(POINT_MS).then(() => null)]);
  if (end?.signal !== 'SIGKILL') throw new Error(`the node did not come to ${point}: ${JSON.stringify(end)} ${life.stderr()}`);
};
