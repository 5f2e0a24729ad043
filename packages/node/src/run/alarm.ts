import type { Clock } from '../kernel/clock.ts';
import { ALARM_AGAIN_MS, ALARM_LOOK_MS } from '../kernel/limits.ts';

/** Rings when the next instant has come. */
export type Alarm = {
  /** Looks for the next instant; takes the place of what was set before. */
  set(): void;
  stop(): void;
};

type Parts = {
  readonly clock: Pick<Clock, 'nowMs' | 'sleep'>;
  /** The next instant, or null. */
  next(): Promise<number | null>;
  ring(): void;
  failed(thrown: unknown): void;
};

/**
 * Makes an alarm that is told the time by the wall clock and sleeps by the steady one: it looks again after a bounded
 * time, so that a clock that was set, or a machine that slept, makes it late by no more than that.
 */
export const createAlarm = ({ clock, next, ring, failed }: Parts): Alarm => {
  let stopped = new AbortController();
  const wait = async (signal: AbortSignal): Promise<void> => {
    for (;;) {
      const at = await next();
      if (at === null || signal.aborted) return;
      const left = at - clock.nowMs();
      await clock.sleep(left <= 0 ? ALARM_AGAIN_MS : Math.min(left, ALARM_LOOK_MS), signal);
      if (clock.nowMs() >= at) return ring();
    }
  };
  const stop = (): void => stopped.abort();
  return {
    set: () => {
      stop();
      stopped = new AbortController();
      const { signal } = stopped;
      wait(signal).catch((thrown: unknown) => (signal.aborted ? undefined : failed(thrown)));
    },
    stop,
  };
};
