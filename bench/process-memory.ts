import { readFileSync } from 'node:fs';

/** Memory of a process in MiB: `rss` counts shared pages whole, `pss` by the part that is its own. */
export type Memory = { readonly rss: number; readonly pss: number };

/** Memory of a process now, as the kernel counts it. */
export const memoryOf = (pid: number): Memory => {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const mib = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) / 1024;
  return { rss: mib('Rss'), pss: mib('Pss') };
};

/** Largest resident memory of a process since its start, MiB. */
export const peakOf = (pid: number): number =>
  Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
