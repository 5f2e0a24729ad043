// A session that was told to close, until nothing of it runs any more.

import { OrreryError } from '@orrery/protocol';
import type { Clock } from '../kernel/clock.ts';
import type { Store } from '../store/store.ts';
import { CLOSE_PROOF_MS } from './limits.ts';
import type { SessionRow } from './model.ts';
import { findSession } from './store.ts';

/** Whether what a person wanted is so: its program's end was recorded, or it never had one. */
const isClosed = ({ wanted, run_id: runId, state }: SessionRow): boolean =>
  wanted === null && runId === null && ['dormant', 'ended', 'failed'].includes(state);

const pending = ({ name }: SessionRow): OrreryError =>
  new OrreryError('close_pending', `The program of the session ${name} has not ended within ${CLOSE_PROOF_MS / 1000} s.`, {
    rule: 'Closed is what was proven. The node goes on ending it, and sends it nothing.',
    fix: `orrery session show ${name}`,
    details: { pending: true },
  });

/**
 * Waits for the proof that nothing of it runs; what is committed of the session wakes it. @throws OrreryError close_pending
 * when there is none yet: nothing is sent to it, and it is tried until there is one.
 */
export const awaitClosed = async (
  { store, clock }: { readonly store: Pick<Store, 'read' | 'subscribe'>; readonly clock: Pick<Clock, 'sleep'> },
  id: string,
): Promise<void> => {
  let changed = Promise.withResolvers<void>();
  let late = false;
  const over = new AbortController();
  const unsubscribe = store.subscribe((events) => {
    if (events.some(({ body }) => 'sessionId' in body && body.sessionId === id)) changed.resolve();
  });
  const patience = clock.sleep(CLOSE_PROOF_MS, over.signal).then(
    () => void (late = true),
    () => undefined,
  );
  try {
    for (;;) {
      // First what wakes it, then the look: nothing is committed between them unheard.
      changed = Promise.withResolvers();
      const wasLate = late;
      const row = await findSession(store.read, id);
      if (row === null || isClosed(row)) return;
      if (wasLate) throw pending(row);
      await Promise.race([changed.promise, patience]);
    }
  } finally {
    unsubscribe();
    over.abort();
  }
};
