// Programs that the kernel ended since the memory of their place ran out: their own keepers only see that something killed them.
import type { Handle, RunEnd } from '../backend.ts';
import { runInPlace } from './command.ts';
import type { Ledger } from './ledger.ts';
import type { Line } from './patience.ts';
import type { Place } from './place.ts';

/** The counters of the place's own group: the second version of control groups, then the first. */
export const COUNTERS = ['/sys/fs/cgroup/memory.events', '/sys/fs/cgroup/memory/memory.oom_control'];
/** Says the counters that its parameters name. */
export const READ_COUNTERS = 'for at; do [ ! -r "$at" ] || cat -- "$at"; done';

/** How many programs the kernel ended because memory ran out, by the group's counters. */
export const memoryKillsIn = (counters: string): number => Number(/^oom_kill (\d+)$/m.exec(counters)?.[1] ?? 0);

/** The same of a place whose memory is bounded; null where it is not, or does not answer. */
export const countMemoryKills = async (place: Pick<Place, 'exec' | 'boundsMemory'>): Promise<number | null> => {
  if (place.boundsMemory !== true) return null;
  const answer = await runInPlace(place, ['sh', '-c', READ_COUNTERS, 'sh', ...COUNTERS]).catch(() => null);
  return answer === null ? null : memoryKillsIn(answer.stdout.toString('latin1'));
};

/** The handle of a program whose end says that memory ran out when that is why it failed. */
export const tellingMemory = (handle: Handle, { place }: Line, ledger: Ledger): Handle => {
  const before = ledger.record.memoryKills;
  const told = async (end: RunEnd): Promise<RunEnd> => {
    const failed = end.signal !== null || (end.exitCode ?? 0) !== 0;
    if (!failed || end.limit !== null) return end;
    const kills = await countMemoryKills(place);
    return kills === null || kills <= before ? end : { ...end, limit: 'memory', reason: 'limit:memory' };
  };
  return {
    ...handle,
    wait: async () => told(await handle.wait()),
    tryWait: async () => {
      const end = await handle.tryWait();
      return end === null ? null : told(end);
    },
  };
};
