import { makeId, type IdKind } from '@orrery/protocol';
import type { Clock } from './clock.ts';
import type { Random } from './random.ts';

/** Makes ids of any kind from the clock and the generator it was given; they sort by the time they were made. */
export type Ids = (kind: IdKind) => string;

export const createIds =
  ({ clock, random }: { clock: Clock; random: Random }): Ids =>
  (kind) =>
    makeId(kind, clock.nowMs(), random.bytes(16));
