// What a host says of itself when a connection begins. Pure but for the text that is run there.
import { createHash } from 'node:crypto';

/** What is known of a host and of who logs in there. */
export type HostFacts = {
  /** As `uname -sm` says it: `Linux x86_64`. */
  readonly system: string;
  readonly bootId: string;
  /** Names the machine, so that an alias that leads to another one is noticed; empty when the machine has no id. */
  readonly machine: string;
  readonly user: string;
  /** Absolute. */
  readonly home: string;
  readonly shell: string;
  /** The directories of programs that are there, parted by colons. */
  readonly path: string;
  readonly language: string;
  /** The session manager ends what a session leaves behind. */
  readonly endsLeftovers: boolean;
};

/** Prints the facts, then waits until stdin ends. `HOME` and `SHELL` are those of the login; start-up files have no part in the rest. */
export const FACTS = `
say() { printf '%s=%s\\n' "$1" "$2"; }
say system "$(uname -sm)"
say bootId "$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)"
say machineId "$(cat /etc/machine-id /var/lib/dbus/machine-id 2>/dev/null | head -n 1)"
say user "$(id -un)"
say home "$HOME"
say shell "$SHELL"
path=
for folder in /usr/local/sbin /usr/local/bin /usr/sbin /usr/bin /sbin /bin; do
  [ ! -d "$folder" ] || path="$path:$folder"
done
say path "\${path#:}"
language=C
case $(locale -a 2>/dev/null) in *C.UTF-8* | *C.utf8*) language=C.UTF-8 ;; esac
say language "$language"
leftovers=no
if [ -d /run/systemd/system ] && [ "$(id -u)" != 0 ]; then
  case $(busctl --system get-property org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager KillUserProcesses 2>/dev/null) in
    'b true') leftovers=yes ;;
  esac
fi
say leftovers "$leftovers"
say end .
cat >/dev/null
`;

/** The facts in what was printed; null while they are not all there. Unknown lines are skipped. */
export const readFacts = (text: string): HostFacts | null => {
  const said = new Map(
    text.split('\n').flatMap((line) => {
      const at = line.indexOf('=');
      return at === -1 ? [] : [[line.slice(0, at), line.slice(at + 1)] as const];
    }),
  );
  if (!/^end=\.$/m.test(text)) return null;
  const of = (name: string): string => said.get(name)?.trim() ?? '';
  const machineId = of('machineId');
  return {
    system: of('system'),
    bootId: of('bootId'),
    machine: machineId === '' ? '' : createHash('sha256').update(`orrery ${machineId}`).digest('hex').slice(0, 32),
    user: of('user'),
    home: of('home'),
    shell: of('shell'),
    path: of('path'),
    language: of('language'),
    endsLeftovers: of('leftovers') === 'yes',
  };
};
