import type { LimitName } from '../keeper/types.ts';

/** A bound that a program reached: the cause of the verdict, and what to say. */
export type ReachedLimit = { readonly cause: string; readonly text: string };

/** What was reached, which key sets it, and which option of `orrery run` asks for more. */
const words: Readonly<
  Record<LimitName | 'disk', { readonly what: string; readonly key: string; readonly option: string | null }>
> = {
  wall: {
    what: 'its time limit',
    key: 'limits.turnMs, limits.hookMs or limits.wallMs',
    option: '--limit-turn, --limit-hook or --limit-wall',
  },
  cpu: { what: 'the cpu limit (processor time)', key: 'limits.cpuSeconds', option: '--limit-cpu' },
  memory: { what: 'the memory limit', key: 'limits.memoryBytes', option: '--limit-memory' },
  processes: { what: 'the processes limit', key: 'limits.processes', option: '--limit-processes' },
  output: { what: 'the output limit', key: 'limits.outputBytes', option: '--limit-output' },
  file: { what: 'the limit of one file', key: 'limits.diskBytes', option: '--limit-disk' },
  disk: { what: 'the disk limit (checkout and home)', key: 'limits.diskBytes', option: '--limit-disk' },
};

/** The words for a limit. */
export const reachedLimit = (limit: LimitName | 'disk', who: string): ReachedLimit => {
  const { what, key, option } = words[limit];
  const raise = `${option === null ? '' : `Ask for more with ${option}, up to what the operator set; the operator's is `}${key}.`;
  return { cause: limit === 'file' ? 'disk' : limit, text: `${who} reached ${what}. ${raise}` };
};
