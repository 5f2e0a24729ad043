// Who a process is: a pid alone is never trusted, since the kernel gives numbers again.
import { readFileSync } from 'node:fs';
import type { KeeperIdentity } from './types.ts';

/** What the kernel says of processes; an argument, so that tests own it. Both answer null where there is no such thing. */
export type ProcessTable = {
  /** Text of `/proc/<pid>/stat`. */
  stat(pid: number): Promise<string | null>;
  bootId(): Promise<string | null>;
};

const readOrNull = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
};

/** The machine's own table. Its files are answers of the kernel: reading them waits for no disk. */
export const systemProcesses: ProcessTable = {
  stat: async (pid) => readOrNull(`/proc/${pid}/stat`),
  bootId: async () => readOrNull('/proc/sys/kernel/random/boot_id')?.trim() ?? null,
};

/** State letter and start time of a stat line; the name in it may hold spaces and parentheses. */
export const parseStat = (stat: string): { readonly state: string; readonly startTicks: number } | null => {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[0];
  const startTicks = Number(fields[19]);
  return state === undefined || !Number.isSafeInteger(startTicks) ? null : { state, startTicks };
};

/** Whether exactly this process lives. A zombie is dead, another boot's process too. */
export const isAlive = async (identity: KeeperIdentity, processes: ProcessTable): Promise<boolean> => {
  if ((await processes.bootId()) !== identity.bootId) return false;
  const stat = await processes.stat(identity.pid);
  const found = stat === null ? null : parseStat(stat);
  return found !== null && found.startTicks === identity.startTicks && !['Z', 'X'].includes(found.state);
};

/** Whether both name the same process. */
export const sameIdentity = (one: KeeperIdentity, other: KeeperIdentity): boolean =>
  one.pid === other.pid && one.startTicks === other.startTicks && one.bootId === other.bootId;
