// The keeper program on a host: carried once for each version of it, named by its hash, used by every environment there.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { OrreryError } from '@orrery/protocol/errors';
import { architectureOf } from '../remote/furnish.ts';
import type { Host } from './host.ts';
import { cacheOf } from './layout.ts';
import { CARRY_MS } from './limits.ts';

const LOOK = `
sha256sum </dev/null >/dev/null 2>&1 || { echo "there is no sha256sum" >&2; exit 3; }
[ -x "$1" ] || { echo absent; exit 0; }
sum=$(sha256sum "$1") || exit 3
echo "\${sum%% *}"
`;

// Written beside and renamed: whoever runs the old one goes on with it, and nobody ever sees a half one.
const CARRY = `
set -e
mkdir -p "\${1%/*}"
new="$1.$$"
trap 'rm -f "$new"' EXIT
cat > "$new"
sum=$(sha256sum "$new")
[ "\${sum%% *}" = "$2" ] || { echo "it arrived damaged" >&2; exit 4; }
chmod 700 "$new"
mv -f "$new" "$1"
"$1" version
`;

const cannot = (host: Host, what: string, fix: string): OrreryError =>
  new OrreryError('backend_unavailable', `The keeper program cannot run on ${host.name}: ${what}`, {
    rule: 'Every program runs under a keeper; on a host it lies in ~/.cache/orrery.',
    fix,
  });

/** Where it lies in the home directory of the user there. */
export const keeperPath = (home: string, hash: string): string => `${cacheOf(home)}/${hash.slice(0, 32)}/orrery-keeper`;

/**
 * Makes sure that the keeper program for the host's architecture is there, by its hash, and runs. Answers its path there.
 * Throws `backend_unavailable` when the host is none that a keeper runs on.
 */
export const carryKeeper = async (host: Host, programFor: (arch: string) => string): Promise<string> => {
  const { home, system } = await host.facts();
  if (!home.startsWith('/')) throw cannot(host, 'the user has no home directory there.', 'Give the user one.');
  const program = await readFile(programFor(architectureOf(system)));
  const hash = createHash('sha256').update(program).digest('hex');
  const path = keeperPath(home, hash);
  const looked = await host.script(LOOK, [path]);
  if (looked.exitCode !== 0) throw cannot(host, looked.stderr.trim(), 'Install coreutils or busybox there.');
  if (looked.stdout.toString().trim() === hash) return path;
  const carried = await host.script(CARRY, [path, hash], { stdin: program, timeoutMs: CARRY_MS });
  if (carried.exitCode === 0 && /^orrery-keeper \S+ wire 1$/m.test(carried.stdout.toString())) return path;
  throw cannot(
    host,
    carried.stderr.trim().slice(-300) || `it ended with ${carried.exitCode}.`,
    'The home directory there has to be writable, on a file system that programs may be executed from.',
  );
};
