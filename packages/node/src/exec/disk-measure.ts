import { diskUse } from '../files/disk-use.ts';
import { systemClock, type Clock } from '../kernel/clock.ts';
import { DISK_LOOK_MS, DISK_LOOK_KEPT_MS } from './limits.ts';

/** What trees take together on disk; null when that could not be told in time. */
export type DiskMeasure = () => Promise<number | null>;

/**
 * Measures the trees when it is asked, one look for all who ask meanwhile and for a moment after it: whoever asks again and
 * again must not keep the disk busy.
 */
export const createDiskMeasure = (
  trees: readonly string[],
  clock: Pick<Clock, 'monotonicMs'> = systemClock,
  deadline: () => AbortSignal = () => AbortSignal.timeout(DISK_LOOK_MS),
): DiskMeasure => {
  let look: Promise<number | null> | null = null;
  let endedAtMs: number | null = null;
  const measure = async (): Promise<number | null> => {
    const signal = deadline();
    let bytes = 0;
    try {
      for (const tree of trees) bytes += await diskUse(tree, signal);
    } catch (thrown) {
      if (!signal.aborted) throw thrown;
      return null;
    }
    return bytes;
  };
  return () => {
    if (look !== null && (endedAtMs === null || clock.monotonicMs() - endedAtMs < DISK_LOOK_KEPT_MS)) return look;
    endedAtMs = null;
    const fresh = measure().catch(() => null);
    look = fresh;
    void fresh.then(() => (endedAtMs = clock.monotonicMs()));
    return fresh;
  };
};
