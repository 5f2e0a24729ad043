// What a fresh place is given before anything runs in it: its folders, and the keeper program.
import { readFile } from 'node:fs/promises';
import { OrreryError } from '@orrery/protocol/errors';
import { mustRun } from './command.ts';
import { CARRY_MS } from './limits.ts';
import type { Place } from './place.ts';

/** Where everything lies in a place; all below its root. */
export type PlaceLayout = {
  readonly root: string;
  readonly work: string;
  readonly home: string;
  readonly tmp: string;
  readonly provided: string;
  readonly carried: string;
  readonly runs: string;
  readonly keeper: string;
  readonly brokerSocket: string;
};

/** The layout of a place. */
export const layoutOf = ({ root, keeper }: Pick<Place, 'root' | 'keeper'>): PlaceLayout => ({
  root,
  work: `${root}/work`,
  home: `${root}/home`,
  tmp: `${root}/tmp`,
  provided: `${root}/provided`,
  carried: `${root}/carried`,
  runs: `${root}/runs`,
  keeper: keeper ?? `${root}/keeper/orrery-keeper`,
  brokerSocket: `${root}/broker.sock`,
});

const ARCHITECTURES: Readonly<Record<string, string>> = { x86_64: 'x64', amd64: 'x64', aarch64: 'arm64', arm64: 'arm64' };

// Paths are parameters, never part of the text. The program is written beside and renamed: a second try finds none half-made.
const MAKE = 'umask 077 && mkdir -p -- "$@" && uname -sm';
/** $1: where the keeper program goes; it comes by stdin. */
export const CARRY = 'umask 077 && cat > "$1.new" && chmod 700 "$1.new" && mv -f "$1.new" "$1" && "$1" version';

/** Node's name of the machine that `uname -sm` describes; refused where there is no keeper program for it. */
export const architectureOf = (said: string): string => {
  const [system, machine = ''] = said.trim().split(/\s+/);
  const arch = ARCHITECTURES[machine];
  if (system === 'Linux' && arch !== undefined) return arch;
  throw new OrreryError('backend_unavailable', `There is no keeper program for ${said.trim()}.`, {
    rule: 'Places run Linux on x86_64 or aarch64.',
    fix: 'Choose another place or image.',
  });
};

/** Makes the folders and carries the keeper program in, unless its provider brought it. Repeatable. `program` answers the path of the one for a machine. */
export const furnish = async (place: Place, program: (arch: string) => string): Promise<PlaceLayout> => {
  const layout = layoutOf(place);
  const { work, home, tmp, provided, carried, runs, keeper } = layout;
  const folders = [work, home, tmp, provided, carried, runs, keeper.slice(0, keeper.lastIndexOf('/'))];
  const brought = place.keeper !== undefined;
  const own = brought ? folders.slice(0, -1) : folders;
  const made = await mustRun(place, ['sh', '-c', MAKE, 'sh', ...own], { what: 'Making its folders' });
  if (brought) return layout;
  const arch = architectureOf(made.toString('utf8'));
  const said = await mustRun(place, ['sh', '-c', CARRY, 'sh', keeper], {
    what: 'Carrying the keeper program in',
    stdin: await readFile(program(arch)),
    timeoutMs: CARRY_MS,
  });
  if (/^orrery-keeper \S+ wire 1$/m.test(said.toString('utf8'))) return layout;
  throw new OrreryError('backend_unavailable', 'The keeper program does not run in the place.', {
    rule: 'Every program runs under a keeper.',
    details: { said: said.toString('utf8').slice(0, 200) },
  });
};
