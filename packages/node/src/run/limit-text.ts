import type { LimitName } from '../keeper/types.ts';

/** A bound that was reached: `cause` of the verdict, and what is said of it. */
export type ReachedLimit = { readonly cause: string; readonly text: string };

type Words = { readonly means: string; readonly key: string; readonly option: string };

/** `file` is the keeper's word for one file that is larger than the disk limit. */
const words: Readonly<Record<LimitName | 'disk', Words>> = {
  wall: {
    means: 'time on the clock',
    key: 'limits.turnMs, limits.hookMs, limits.wallMs',
    option: '--limit-turn, --limit-hook or --limit-wall',
  },
  cpu: { means: 'processor time', key: 'limits.cpuSeconds', option: '--limit-cpu' },
  memory: { means: 'memory of all its processes', key: 'limits.memoryBytes', option: '--limit-memory' },
  processes: { means: 'processes at once', key: 'limits.processes', option: '--limit-processes' },
  output: { means: 'bytes that it printed', key: 'limits.outputBytes', option: '--limit-output' },
  file: { means: 'one file larger than checkout and home may be', key: 'limits.diskBytes', option: '--limit-disk' },
  disk: { means: 'checkout and home together', key: 'limits.diskBytes', option: '--limit-disk' },
};

const causeOf = (limit: LimitName | 'disk'): string => (limit === 'file' ? 'disk' : limit);

/** What was reached and how to raise it, to stand behind who reached it. */
export const reachedLimit = (limit: LimitName | 'disk'): ReachedLimit => {
  const { means, key, option } = words[limit];
  const cause = causeOf(limit);
  return { cause, text: `reached the ${cause} limit (${means}). To raise it: ${option}, up to what the operator set (${key}).` };
};

/** The cause that such a text tells of, or null. */
export const limitIn = (text: string | null): string | null => /^reached the ([a-z]+) limit /.exec(text ?? '')?.[1] ?? null;
