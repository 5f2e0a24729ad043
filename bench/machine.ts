import { fdatasyncSync, closeSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import { arch, availableParallelism, cpus, loadavg, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { spreadOf } from './benchmark.ts';

/** What of the machine a reader needs to judge a run. */
export type MachineFacts = {
  readonly system: string;
  readonly processors: string;
  readonly memoryGiB: number;
  readonly node: string;
  readonly user: 'root' | 'user';
  /** Kind of the file system the run used, and the median of a 4 KiB write that is on the disk, ms. */
  readonly disk: string;
  readonly syncMs: number;
  /** Waiting and running processes in the last minute, at the begin of the run. */
  readonly load: number;
};

const diskOf = (directory: string): string => {
  const mounts = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '));
  const holding = mounts.filter(([, at = '']) => directory === at || directory.startsWith(at === '/' ? '/' : `${at}/`));
  return holding.toSorted(([, a = ''], [, b = '']) => a.length - b.length).at(-1)?.[2] ?? 'unknown';
};

const syncMs = (directory: string): number => {
  const path = join(directory, 'sync-probe');
  const file = openSync(path, 'w');
  const page = Buffer.alloc(4096);
  const samples = Array.from({ length: 50 }, () => {
    const from = performance.now();
    writeSync(file, page);
    fdatasyncSync(file);
    return performance.now() - from;
  });
  closeSync(file);
  unlinkSync(path);
  return spreadOf(samples).median;
};

/** Looks at the machine now. `directory` is where the run works. */
export const lookAtMachine = (directory: string): MachineFacts => ({
  system: `${platform()} ${release()} ${arch()}`,
  processors: `${availableParallelism()} × ${cpus()[0]?.model.trim() ?? 'unknown'}`,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  node: process.version,
  user: process.getuid?.() === 0 ? 'root' : 'user',
  disk: platform() === 'linux' ? diskOf(directory) : 'unknown',
  syncMs: syncMs(directory),
  load: loadavg()[0] ?? 0,
});
