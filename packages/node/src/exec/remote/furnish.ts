// What a fresh place is given before anything runs in it: its folders, and the keeper program. One command does it and asks
// what has to be known of the place, since each costs as much as a program's start.
import { readFile } from 'node:fs/promises';
import { OrreryError } from '@orrery/protocol/errors';
import { commandFailed, runInPlace } from './command.ts';
import type { PlaceAnswer } from './command.ts';
import { layoutOf } from './layout.ts';
import { CARRY_MS } from './limits.ts';
import type { Place } from './place.ts';
import { readSurvey, SURVEY } from './survey.ts';
import type { Survey } from './survey.ts';

const ARCHITECTURES: Readonly<Record<string, string>> = { x86_64: 'x64', amd64: 'x64', aarch64: 'arm64', arm64: 'arm64' };

// Paths are parameters, never part of the text. The program is written beside and renamed: a second try finds none half-made.
const PUT = 'cat > "$1.new" && chmod 700 "$1.new" && mv -f "$1.new" "$1"';
/** $1: where the keeper program goes; it comes by stdin. */
export const CARRY = `umask 077 && ${PUT} && "$1" version`;

const FOLDERS = ['work', 'home', 'tmp', 'provided', 'carried', 'runs'];

// The root, the keeper, what `uname -sm` says where the program that comes by stdin runs, then paths to look for. Each step
// ends with a line, so that the lines tell how far it came. On another machine it ends after the first.
const FURNISH = `umask 077
root=$1 keeper=$2 fit=$3
shift 3
put() { ${PUT}; }
mkdir -p -- ${FOLDERS.map((name) => `"$root/${name}"`).join(' ')} && uname -sm || exit
case $fit in
  brought) ;;
  *"/$(uname -sm)/"*) mkdir -p -- "\${keeper%/*}" && put "$keeper" || exit ;;
  *) exit 0 ;;
esac
"$keeper" version || exit
${SURVEY}`;

/** What a command that ended too early was about, by the lines that it said. */
const STEPS = [
  'Making its folders',
  'Carrying the keeper program in',
  'Asking what the place can guarantee',
  'Looking for paths',
];

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

/** The machines that the program for `arch` is for, as `uname -sm` names them, between slashes. */
const machinesOf = (arch: string): string =>
  `/${Object.keys(ARCHITECTURES)
    .filter((machine) => ARCHITECTURES[machine] === arch)
    .map((machine) => `Linux ${machine}`)
    .join('/')}/`;

/** How a place is furnished. `program` answers the path of the keeper program for a machine; `paths` are looked for. */
export type Furnishing = { readonly program: (arch: string) => string; readonly paths: readonly string[] };

const notRunning = (said: string): OrreryError =>
  new OrreryError('backend_unavailable', 'The keeper program does not run in the place.', {
    rule: 'Every program runs under a keeper.',
    details: { said: said.slice(0, 200) },
  });

const linesOf = ({ exitCode, stdout, stderr }: PlaceAnswer): string[] => {
  const lines = stdout.toString('utf8').split('\n').slice(0, -1);
  if (exitCode === 0) return lines;
  throw commandFailed(STEPS[Math.min(lines.length, STEPS.length - 1)] ?? '', { exitCode, stderr });
};

/** `arch` null: its provider brought the program. On another machine than that it only answers which it is. */
const furnishFor = async (
  place: Place,
  { program, paths }: Furnishing,
  arch: string | null,
): Promise<Survey | { readonly machine: string }> => {
  const { root, keeper } = layoutOf(place);
  const fit = arch === null ? 'brought' : machinesOf(arch);
  const argv = ['sh', '-c', FURNISH, 'sh', root, keeper, fit, ...paths];
  const input = arch === null ? {} : { stdin: await readFile(program(arch)), timeoutMs: CARRY_MS };
  const [machine = '', version, report = '', found = ''] = linesOf(await runInPlace(place, argv, input));
  if (version === undefined) return { machine };
  if (!/^orrery-keeper \S+ wire 1$/.test(version)) throw notRunning(version);
  return readSurvey(report, found, paths);
};

/**
 * Makes the folders, carries the keeper program in unless its provider brought it, and asks what has to be known. Repeatable.
 * The program for a machine like this one is sent at once; another one's is sent when the place has said what it is.
 */
export const furnish = async (place: Place, furnishing: Furnishing): Promise<Survey> => {
  const guess = Object.values(ARCHITECTURES).includes(process.arch) ? process.arch : 'x64';
  const first = await furnishFor(place, furnishing, place.keeper === undefined ? guess : null);
  if (!('machine' in first)) return first;
  const second = await furnishFor(place, furnishing, architectureOf(first.machine));
  if ('machine' in second) throw notRunning(second.machine);
  return second;
};
