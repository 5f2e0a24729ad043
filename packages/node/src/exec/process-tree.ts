import { readFile, readdir } from 'node:fs/promises';

const textOr = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');

const childrenOf = async (pid: number): Promise<number[]> => {
  const threads = await readdir(`/proc/${pid}/task`).catch((): string[] => []);
  const lists = await Promise.all(threads.map((thread) => textOr(`/proc/${pid}/task/${thread}/children`)));
  return lists
    .flatMap((list) => list.trim().split(' '))
    .filter((word) => word !== '')
    .map(Number);
};

/** Everything below `pid`, itself not counted, as the process table says now; processes that end meanwhile are left out. */
export const descendants = async (pid: number): Promise<number[]> => {
  const found: number[] = [];
  for (let next = await childrenOf(pid); next.length > 0;) {
    found.push(...next);
    next = (await Promise.all(next.map(childrenOf))).flat();
  }
  return found;
};

/** Resident memory of a process in bytes, shared pages counted; 0 when it is gone. */
export const residentBytes = async (pid: number): Promise<number> => {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(await textOr(`/proc/${pid}/status`))?.[1];
  return kilobytes === undefined ? 0 : Number(kilobytes) * 1024;
};
