// Why programs of a container may have been ended by others.
import { countMemoryKills } from '../remote/memory-kills.ts';
import type { PlaceCommand } from '../remote/place.ts';
import { startProcess } from './process.ts';
import type { ProcessPlace } from './process.ts';

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
    const exec = (command: PlaceCommand) => startProcess(place, command);
    const kills = state.Status === 'running' ? await countMemoryKills({ exec, boundsMemory: true }) : 0;
    const memory = explainMemory(kills ?? 0, state.OOMKilled === true, host?.Memory ?? 0);
    if (memory !== null || state.Status === 'running') return memory;
    return `The container is ${state.Status} (exit code ${state.ExitCode ?? 'unknown'})${state.Error ? `: ${state.Error}` : ''}.`;
  } catch {
    return null;
  }
};
