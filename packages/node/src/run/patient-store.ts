import { toOrreryError } from '@orrery/protocol';
import type { Clock } from '../kernel/clock.ts';
import { DISK_AGAIN_MS } from '../kernel/limits.ts';
import type { Log } from '../kernel/log.ts';
import type { Store } from '../store/store.ts';

/**
 * A store that waits while the disk is full instead of failing: work that runs is held up by back-pressure and goes on
 * without loss when space returns. A job may run more than once, and only its last run counts. Ends with the signal.
 */
export const patientStore = (
  store: Store,
  parts: { readonly clock: Clock; readonly log: Log; readonly signal: AbortSignal },
): Store => {
  const patiently = async <T>(job: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await job();
      } catch (thrown) {
        if (toOrreryError(thrown).code !== 'disk_full' || parts.signal.aborted) throw thrown;
        parts.log.warn('run.disk.full', { againMs: DISK_AGAIN_MS });
        await parts.clock.sleep(DISK_AGAIN_MS, parts.signal);
      }
    }
  };
  return {
    ...store,
    get read() {
      return store.read;
    },
    transaction: (job) => patiently(() => store.transaction(job)),
    append: (events) => patiently(() => store.append(events)),
  };
};
