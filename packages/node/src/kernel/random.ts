import { randomBytes } from 'node:crypto';

/** Chance, as an argument: tests and the simulator own it. */
export type Random = {
  /** `count` unpredictable bytes, fit for secrets. */
  bytes(count: number): Uint8Array;
};

/** The operating system's generator. */
export const systemRandom: Random = { bytes: (count) => new Uint8Array(randomBytes(count)) };

/** `count` unpredictable bytes as lower-case hexadecimal digits. */
export const randomHex = (random: Random, count: number): string => Buffer.from(random.bytes(count)).toString('hex');
