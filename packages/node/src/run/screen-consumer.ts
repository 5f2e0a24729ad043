import type { HarnessScreen } from '../harness/harness.ts';
import { oscStart, readOsc, type OscPosition } from '../harness/osc.ts';
import { waitingFor, type ScreenStatus } from '../harness/screen-status.ts';
import { SCREEN_STEP_BYTES } from '../kernel/limits.ts';
import type { Consumer, ConsumerStart } from './program.ts';

type ScreenState = {
  readonly position: OscPosition;
  /** What it told of itself last. */
  readonly status: ScreenStatus | null;
};

/** Reads from a full screen's output only what it tells of itself: whether it works, or waits for the person. */
export type ScreenConsumer = Consumer<null> & {
  /** The person wrote: who only rang is answered. */
  answered(): void;
};

/** Makes one. `given`: it was begun with a prompt, so that having nothing to do before its first turn is no wait. */
export const screenConsumer = (screen: HarnessScreen, from: ConsumerStart, given: boolean): ScreenConsumer => {
  const before = from.state as ScreenState | null;
  let position = before?.position ?? oscStart;
  let status = before?.status ?? null;
  let recorded = { offset: from.stdout, status };
  let offset = from.stdout;
  let answer = false;
  const settle = (next: ScreenStatus): void => {
    if (next === 'idle' && given && status === null) return;
    // What it has finished is worth more than that it does nothing since.
    if (next === 'idle' && (status === 'done' || status === 'failed')) return;
    status = next;
  };
  return {
    push: (stream, bytes) => {
      const same = { bodies: [], conversation: null, accepted: false, settled: false };
      if (stream === 'stderr') return { ...same, offset: from.stderr };
      if (answer && status === 'rang') status = 'working';
      answer = false;
      const read = readOsc(position, bytes);
      position = read.position;
      offset += bytes.length;
      for (const word of read.words) {
        const next = screen.status(word);
        if (next !== null) settle(next);
      }
      const told = status === recorded.status || status === null ? null : status;
      if (told === null && offset - recorded.offset < SCREEN_STEP_BYTES) return { ...same, offset: recorded.offset };
      recorded = { offset, status };
      return { ...same, offset, ...(told === null ? {} : { waitingFor: waitingFor(told) }) };
    },
    state: (): ScreenState => ({ position, status }),
    answered: () => {
      answer = true;
    },
    end: () => ({ bodies: [], outcome: null }),
  };
};
