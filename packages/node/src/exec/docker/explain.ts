// Why programs of a container may have been ended by others.
import { text } from 'node:stream/consumers';
import { startProcess } from './process.ts';
import type { ProcessPlace } from './process.ts';

/** How long the counters of the kernel may take to be read. */
const LOOK_MS = 30_000;
/** The counters of the container's own group: the second version of control groups, then the first. */
const COUNTERS = ['/sys/fs/cgroup/memory.events', '/sys/fs/cgroup/memory/memory.oom_control'];
const READ = 'for at; do [ -r "$at" ] && cat "$at"; done; true';

/** How many programs the kernel ended because memory ran out, by the group's counters. */
export const outOfMemoryKills = (counters: string): number => Number(/^oom_kill (\d+)$/m.exec(counters)?.[1] ?? 0);

const amount = (bytes: number): string => `${Math.round(bytes / (1024 * 1024))} MB`;

/** The sentence for a container that ran out of memory; null when it did not. */
export const explainMemory = (kills: number, killedWhole: boolean, limitBytes: number): string | null => {
  if (kills === 0 && !killedWhole) return null;
  const limit = limitBytes > 0 ? `its limit of ${amount(limitBytes)}` : "the machine's memory";
  const who = killedWhole ? 'everything in it' : `${kills} ${kills === 1 ? 'program' : 'programs'}`;
  return `The container reached ${limit}: the kernel ended ${who}.`;
};

/** What is known, or null. The engine's own mark is for the first process alone, so the kernel's counters are read too. */
export const explainEnd = async (place: ProcessPlace): Promise<string | null> => {
  try {
    const container = await place.engine.inspect(place.containerId);
    if (container === null) return 'The container was removed by somebody else.';
    const { State: state, HostConfig: host } = container;
    const kills = state.Status === 'running' ? await countKills(place) : 0;
    const memory = explainMemory(kills, state.OOMKilled === true, host?.Memory ?? 0);
    if (memory !== null || state.Status === 'running') return memory;
    return `The container is ${state.Status} (exit code ${state.ExitCode ?? 'unknown'})${state.Error ? `: ${state.Error}` : ''}.`;
  } catch {
    return null;
  }
};

const countKills = async (place: ProcessPlace): Promise<number> => {
  const process = await startProcess(place, { argv: ['sh', '-c', READ, 'sh', ...COUNTERS], timeoutMs: LOOK_MS });
  return outOfMemoryKills(await text(process.stdio));
};
