// A connection that breaks is tried again; a place that is gone is said to be gone; nothing waits for ever.
import { OrreryError } from '@orrery/protocol/errors';
import type { Clock } from '../../kernel/clock.ts';
import { unreachable } from './command.ts';
import type { PlaceLayout } from './layout.ts';
import { RETRY_FIRST_MS, RETRY_MOST_MS } from './limits.ts';
import type { Place, PlaceState } from './place.ts';

/** A place as one view of an environment uses it. */
export type Line = {
  readonly place: Place;
  readonly layout: PlaceLayout;
  readonly clock: Clock;
  /** How long the place may be out of reach. */
  readonly patienceMs: number;
  /** Aborted when the view is dropped: nothing is tried again. */
  readonly over: AbortSignal;
};

/** The error of everything that was asked of a place that is gone: what ran there is gone with it. */
const placeGone = ({ why, limit }: Extract<PlaceState, { state: 'gone' }>, explanation: string | null): OrreryError => {
  const more = explanation === null || explanation.includes(why) ? '' : ` (${explanation})`;
  return new OrreryError('keeper_lost', `The place of the program is gone: ${why}${more}.`, {
    rule: 'A program ends with its place; what was carried out of it before is here.',
    fix: 'Run it again.',
    details: { place: 'gone', ...(limit === undefined ? {} : { limit }) },
  });
};

/** Whether an error says that the place itself is gone. */
export const isPlaceGone = (thrown: unknown): boolean =>
  thrown instanceof OrreryError && thrown.code === 'keeper_lost' && thrown.details?.['place'] === 'gone';

/** Whether an error only says that a connection broke. */
export const isUnreachable = (thrown: unknown): boolean => thrown instanceof OrreryError && thrown.code === 'backend_unreachable';

/** What is known of why programs of the place may have ended, or null. Never rejects. */
export const explanationOf = (line: Line): Promise<string | null> => line.place.explain().catch(() => null);

/** Throws when the place is certainly gone. Not being able to tell is not gone. */
export const checkThere = async (line: Line): Promise<void> => {
  const state = await line.place.state().catch(() => null);
  if (state?.state === 'gone') throw placeGone(state, await explanationOf(line));
};

/**
 * What a failure of a command in the place means: returns when only the connection broke and it may be tried again; throws
 * that the place is gone when it is, since a command that is refused may be refused for that; else throws the failure.
 */
export const judgeFailure = async (line: Line, thrown: unknown): Promise<void> => {
  const refused = thrown instanceof OrreryError && thrown.code === 'backend_unavailable';
  if (refused || isUnreachable(thrown)) await checkThere(line);
  if (!isUnreachable(thrown)) throw thrown;
};

/** Pauses between tries, longer each time. `next` rejects when the patience is at its end or the view was dropped. */
export const createPauses = (line: Line): { next(cause: unknown): Promise<void> } => {
  const start = line.clock.monotonicMs();
  let waitMs = RETRY_FIRST_MS;
  return {
    next: async (cause) => {
      if (line.clock.monotonicMs() - start >= line.patienceMs)
        throw unreachable(`not within ${Math.round(line.patienceMs / 1000)} s`, cause);
      await line.clock.sleep(waitMs, line.over);
      waitMs = Math.min(waitMs * 2, RETRY_MOST_MS);
    },
  };
};

/** Does `work` until its connection holds. What can be done twice only. Rejects when the place is gone or stays out of reach. */
export const patiently = async <T>(line: Line, work: () => Promise<T>): Promise<T> => {
  const pauses = createPauses(line);
  for (;;) {
    try {
      return await work();
    } catch (thrown) {
      await judgeFailure(line, thrown);
      await pauses.next(thrown);
    }
  }
};
