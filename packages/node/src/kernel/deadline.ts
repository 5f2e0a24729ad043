import { OrreryError } from '@orrery/protocol/errors';
import type { Clock } from './clock.ts';

/** A signal that is aborted when its time is over, and the way to let go of its timer. */
export type Deadline = { readonly signal: AbortSignal; end(): void };

/** The failure of a deadline: which one, and how long it was. */
export const deadlineError = ({ name, ms }: { name: string; ms: number }): OrreryError =>
  new OrreryError('deadline', `"${name}" took longer than allowed.`, {
    rule: `The limit "${name}" is ${ms} ms.`,
    details: { deadline: name, ms },
  });

/**
 * Begins a deadline of `ms`. Its signal's reason is an `OrreryError` `deadline` that names it, or the reason of `within`
 * when that is aborted first. Call `end` when the work is over.
 */
export const startDeadline = (
  { name, ms, within }: { name: string; ms: number; within?: AbortSignal },
  clock: Pick<Clock, 'sleep'>,
): Deadline => {
  const over = new AbortController();
  const ended = new AbortController();
  clock.sleep(ms, ended.signal).then(
    () => over.abort(deadlineError({ name, ms })),
    () => undefined,
  );
  const signal = within === undefined ? over.signal : AbortSignal.any([over.signal, within]);
  return { signal, end: () => ended.abort() };
};

/**
 * Runs `work` under a deadline and rejects with its error when the time is over, whether or not `work` looks at the
 * signal it is given.
 */
export const withDeadline = async <T>(
  limit: { name: string; ms: number; within?: AbortSignal },
  clock: Pick<Clock, 'sleep'>,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const deadline = startDeadline(limit, clock);
  const { promise: late, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(deadline.signal.reason);
  deadline.signal.addEventListener('abort', onAbort, { once: true });
  try {
    deadline.signal.throwIfAborted();
    return await Promise.race([work(deadline.signal), late]);
  } finally {
    deadline.signal.removeEventListener('abort', onAbort);
    deadline.end();
  }
};
