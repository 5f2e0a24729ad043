import { diskUse } from '../files/disk-use.ts';
import { DISK_WATCH_MS, DISK_WATCH_SHARE } from '../kernel/limits.ts';
import { errorFields } from '../kernel/log.ts';
import type { OpenAttempt } from './attempt-context.ts';
import type { Ending } from '../task/index.ts';
import { AttemptEnded } from './ending.ts';
import { reachedLimit } from './limit-text.ts';

const diskEnding: Ending = { verdict: 'limit', cause: 'disk', reason: `The task ${reachedLimit('disk').text}` };

/**
 * Does the work of an attempt under its disk limit. No kernel limits a folder for everyone, so checkout and home are
 * measured at intervals and once at the end: a program may pass the limit between two looks, and is then ended. The end is
 * `limit` with the cause `disk`. Where files lie on another machine the backend has the limit, and nothing is measured here.
 */
export const underDiskLimit = async (open: OpenAttempt, work: (open: OpenAttempt) => Promise<Ending>): Promise<Ending> => {
  const { parts, environment, prepared } = open;
  const most = prepared.settings.diskBytes;
  if (most === null || parts.backend(prepared.settings.backend).exposure.kind !== 'loopback') return work(open);
  const over = new AbortController();
  const done = new AbortController();
  const look = async (): Promise<void> => {
    if ((await diskUse(environment.workdir)) + (await diskUse(environment.home)) > most) over.abort();
  };
  const watching = watch(open, { look, until: AbortSignal.any([over.signal, done.signal]) });
  try {
    const ending = await work({ ...open, cancelled: AbortSignal.any([open.cancelled, over.signal]) });
    await look();
    return over.signal.aborted ? diskEnding : ending;
  } catch (thrown) {
    // Ended by this limit it looks like a cancel; a cancel of a person stays one.
    if (over.signal.aborted && !open.cancelled.aborted && !open.detached.aborted) throw new AttemptEnded(diskEnding);
    throw thrown;
  } finally {
    done.abort();
    await watching;
  }
};

/** Looks again and again; a large tree less often, so that looking takes a small share of the time. */
const watch = async (
  { parts }: OpenAttempt,
  { look, until }: { readonly look: () => Promise<void>; readonly until: AbortSignal },
): Promise<void> => {
  while (!until.aborted) {
    const from = parts.clock.monotonicMs();
    await look().catch((thrown: unknown) => parts.log.warn('disk.unmeasured', errorFields(thrown)));
    const tookMs = parts.clock.monotonicMs() - from;
    await parts.clock.sleep(Math.max(DISK_WATCH_MS, tookMs * DISK_WATCH_SHARE), until).catch(() => undefined);
  }
};
