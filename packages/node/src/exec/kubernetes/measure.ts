// What the programs of a pod take, counted by a command in it: clusters need not have metrics.
import { buffer } from 'node:stream/consumers';
import type { Place } from '../remote/place.ts';
import { ROOT } from './manifest.ts';

type Measured = Awaited<ReturnType<Place['stats']>>;

const unknown: Measured = { processes: null, memoryBytes: null, diskBytes: null };

// Keepers, the pod's first process with what it waits for, and this command itself are not programs of the environment.
const COUNT = `
n=0; pages=0
for at in /proc/[0-9]*; do
  pid=\${at#/proc/}
  [ "$pid" = 1 ] || [ "$pid" = $$ ] && continue
  name=; read -r name 2>/dev/null < "$at/comm" || continue
  case $name in orrery-keeper|orrery-keeper*) continue ;; esac
  line=; read -r line 2>/dev/null < "$at/stat" || continue
  set -- \${line##*) }
  [ "$1" = Z ] && continue
  [ "$name" = sleep ] && [ "$2" = 1 ] && continue
  read -r _ resident _ 2>/dev/null < "$at/statm" || continue
  n=$((n + 1)); pages=$((pages + resident))
done
disk=$(du -sk "$ROOT" 2>/dev/null); disk=\${disk%%[!0-9]*}
echo "$n $((pages * 4096)) \${disk:-x}"
`;

/** Reads what the command printed; anything else is unknown. */
export const readMeasured = (text: string): Measured => {
  const found = /^(\d+) (\d+) (\d+|x)\s*$/.exec(text);
  if (found === null) return unknown;
  const [, processes, memoryBytes, kilobytes] = found;
  return {
    processes: Number(processes),
    memoryBytes: Number(memoryBytes),
    diskBytes: kilobytes === 'x' ? null : Number(kilobytes) * 1024,
  };
};

/** Counts processes, resident memory and disk of an environment; all unknown when the pod does not answer. */
export const measure = async (exec: Place['exec']): Promise<Measured> => {
  try {
    const command = await exec({ argv: ['env', `ROOT=${ROOT}`, 'sh', '-c', COUNT], timeoutMs: 60_000 });
    return readMeasured((await buffer(command.stdio)).toString('utf8'));
  } catch {
    return unknown;
  }
};
