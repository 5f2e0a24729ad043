// Processes seen from outside, in /proc: nothing here trusts what the product says about them.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import process from 'node:process';

/** A process and how it is recognised. */
export type Seen = { readonly pid: number; readonly command: string };

const read = (path: string): string => {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
};

const linkOf = (path: string): string => {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
};

const isZombie = (pid: number): boolean => / [ZX] /.test(read(`/proc/${pid}/stat`).replace(/^.*\)/, ''));

/**
 * Live processes that carry a text in their environment, their arguments or the path of their working directory. An agent
 * that clears its environment and leaves its session still has the directory, or the odd argument a test gave it.
 */
export const processesOf = (marker: string, except: readonly number[] = []): Seen[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && !except.includes(pid))
    .filter(
      (pid) =>
        read(`/proc/${pid}/cmdline`).includes(marker) ||
        read(`/proc/${pid}/environ`).includes(marker) ||
        linkOf(`/proc/${pid}/cwd`).includes(marker),
    )
    .filter((pid) => !isZombie(pid))
    .map((pid) => ({ pid, command: read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim().slice(0, 200) }));

/** Ends what a test left, one pid at a time, until nothing is found. */
export const endAll = async (find: () => readonly Seen[]): Promise<void> => {
  for (let round = 0; round < 20; round++) {
    const left = find();
    if (left.length === 0) return;
    for (const { pid } of left) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It ended by itself in between.
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

/** The keeper of the one program of a place (seen from outside), and the first process inside its namespace. */
export const keepersOf = (data: string): { readonly outer: number; readonly inner: number } | null => {
  const found = processesOf(data).filter(({ command }) => /orrery-keeper\S* run --dir/.test(command));
  const depth = (pid: number): number => (/^NSpid:\s*(.*)$/m.exec(read(`/proc/${pid}/status`))?.[1] ?? '').split(/\s+/).length;
  const outer = found.find(({ pid }) => depth(pid) === Math.min(...found.map((one) => depth(one.pid))));
  const inner = found.find(({ pid }) => depth(pid) > depth(outer?.pid ?? -1));
  return outer === undefined || inner === undefined ? null : { outer: outer.pid, inner: inner.pid };
};
