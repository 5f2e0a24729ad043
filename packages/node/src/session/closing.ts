// A session that was told to close, until nothing of it runs any more.

import { OrreryError } from '@orrery/protocol';
import type { Clock } from '../kernel/clock.ts';
import type { Store } from '../store/store.ts';
import { CLOSE_LOOK_MS, CLOSE_PROOF_MS } from './limits.ts';
import type { SessionRow } from './model.ts';
import { findSession } from './store.ts';

/** Whether what a person wanted is so: its program's end was recorded, or it never had one. */
const isClosed = ({ wanted, run_id: runId, state }: SessionRow): boolean =>
  wanted === null && runId === null && ['dormant', 'ended', 'failed'].includes(state);

/**
 * Waits for the proof that nothing of it runs. @throws OrreryError close_pending when there is none yet: nothing is sent
 * to it, and it is tried until there is one.
 */
export const awaitClosed = async ({ store, clock }: { store: Store; clock: Pick<Clock, 'sleep'> }, id: string): Promise<void> => {
  for (let waitedMs = 0; ; waitedMs += CLOSE_LOOK_MS) {
    const row = await findSession(store.read, id);
    if (row === null || isClosed(row)) return;
    if (waitedMs >= CLOSE_PROOF_MS)
      throw new OrreryError(
        'close_pending',
        `The program of the session ${row.name} has not ended within ${CLOSE_PROOF_MS / 1000} s.`,
        {
          rule: 'Closed is what was proven. The node goes on ending it, and sends it nothing.',
          fix: `orrery session show ${row.name}`,
          details: { pending: true },
        },
      );
    await clock.sleep(CLOSE_LOOK_MS);
  }
};
