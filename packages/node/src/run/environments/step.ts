import { changeNamed } from '../../environment/index.ts';
import type { Environment } from '../../exec/backend.ts';
import type { ConductorParts } from '../doors.ts';

/** What a step works with. */
export type Step = {
  readonly parts: ConductorParts;
  /** Open places, and those that are being found again, by id of their environment. */
  readonly places: Map<string, Promise<Environment>>;
  /** Aborted when another operation takes the place of this one, or the node stops. */
  readonly stopped: AbortSignal;
};

/** What of an environment's row is another afterwards. */
export type Change = Omit<Parameters<typeof changeNamed>[2], 'nowMs'>;

/** Records what a step reached. */
export const record = (parts: ConductorParts, id: string, change: Change): Promise<void> =>
  parts.store.transaction((tx) => changeNamed(tx, id, { ...change, nowMs: parts.clock.nowMs() }));
