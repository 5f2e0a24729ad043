// How much an environment in a place uses, from what the place says of its processes.
import { runInPlace } from './command.ts';
import type { Place } from './place.ts';

/** $1: the root. Disk in KiB, then every process' number, parent and memory, then the keepers of the environment. */
const MEASURE = `
echo "disk $(du -sk -- "$1" 2>/dev/null | { read -r size _ && echo "$size"; })"
echo "page $(getconf PAGESIZE 2>/dev/null)"
for stat in /proc/[0-9]*/stat; do
  read -r line < "$stat" 2>/dev/null && echo "process $line"
done 2>/dev/null
for status in "$1"/runs/*/status; do
  [ ! -f "$status" ] || echo "keeper $(cat "$status")"
done
exit 0
`;

/** Absent numbers are null. */
export type Measured = {
  readonly processes: number | null;
  readonly memoryBytes: number | null;
  readonly diskBytes: number | null;
};

type Process = { readonly pid: number; readonly parent: number; readonly startTicks: number; readonly pages: number };

/** A line of /proc/PID/stat; the name in parentheses may hold anything. Zombies are none. */
const readProcess = (line: string): Process | null => {
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const pid = Number.parseInt(line, 10);
  const numbers = [fields[1], fields[19], fields[21]].map(Number);
  if (fields[0] === 'Z' || ![pid, ...numbers].every(Number.isFinite)) return null;
  return { pid, parent: numbers[0]!, startTicks: numbers[1]!, pages: numbers[2]! };
};

const readKeeper = (text: string): { readonly pid: number; readonly startTicks: number } | null => {
  try {
    const said: unknown = JSON.parse(text);
    if (typeof said !== 'object' || said === null || !('pid' in said) || !('startTicks' in said)) return null;
    return typeof said.pid === 'number' && typeof said.startTicks === 'number'
      ? { pid: said.pid, startTicks: said.startTicks }
      : null;
  } catch {
    return null;
  }
};

const below = (all: readonly Process[], roots: ReadonlySet<number>): Process[] => {
  const children = Map.groupBy(all, ({ parent }) => parent);
  const found: Process[] = [];
  const walk = (pid: number): void => {
    for (const child of children.get(pid) ?? []) {
      found.push(child);
      walk(child.pid);
    }
  };
  for (const root of roots) walk(root);
  return found;
};

/** Counts the processes below the environment's keepers, the keepers not. */
export const readMeasure = (text: string): Measured => {
  const lines = text.split('\n').map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)] as const);
  const of = (name: string): string[] => lines.flatMap(([kind, rest]) => (kind === name ? [rest] : []));
  const all = of('process').flatMap((line) => readProcess(line) ?? []);
  const keepers = of('keeper').flatMap((line) => readKeeper(line) ?? []);
  const alive = keepers.filter(({ pid, startTicks }) => all.some((one) => one.pid === pid && one.startTicks === startTicks));
  const own = below(all, new Set(alive.map(({ pid }) => pid)));
  const page = Number.parseInt(of('page')[0] ?? '', 10);
  const disk = Number.parseInt(of('disk')[0] ?? '', 10);
  return {
    processes: all.length === 0 ? null : own.length,
    memoryBytes: all.length === 0 || !(page > 0) ? null : own.reduce((sum, { pages }) => sum + pages, 0) * page,
    diskBytes: Number.isFinite(disk) ? disk * 1024 : null,
  };
};

/** Asks the place below `root`. Rejects when it cannot be reached. */
export const measurePlace = async (place: Pick<Place, 'exec'>, root: string): Promise<Measured> =>
  readMeasure((await runInPlace(place, ['sh', '-c', MEASURE, 'sh', root])).stdout.toString('utf8'));
