// The keeper program's own commands in a place: what the node asks there beside running programs.
import { posix } from 'node:path';
import type { Duplex } from 'node:stream';
import { OrreryError } from '@orrery/protocol/errors';
import { inTheWay } from '../../files/write-below.ts';
import { readLook, readProbe } from '../../keeper/records.ts';
import type { KeeperLook } from '../../keeper/records.ts';
import type { GuaranteeReport, OutputChunk, OutputStream } from '../../keeper/types.ts';
import { commandFailed, mustRun, runInPlace, startInPlace, unreachable } from './command.ts';
import { createPauses, judgeFailure, patiently } from './patience.ts';
import type { Line } from './patience.ts';
import { LOOK_FOR, parseAnswer, presentIn } from './survey.ts';

/** Exit code of a script that met something that should not be there. */
const IN_THE_WAY = 45;

/** What is in a run's directory, asked once. */
export const lookAt = async ({ place, layout }: Line, dir: string): Promise<KeeperLook> =>
  parseAnswer(await mustRun(place, [layout.keeper, 'look', dir], { what: 'Looking at a run' }), readLook);

/** What a confined program would get in the place. */
export const probePlace = (line: Line): Promise<readonly GuaranteeReport[]> =>
  patiently(line, async () =>
    parseAnswer(
      await mustRun(line.place, [line.layout.keeper, 'probe'], { what: 'Asking what the place can guarantee' }),
      readProbe,
    ),
  );

/** Ends the program of `dir` with its tree, and removes the directory. Also when there is none. */
export const settleRun = async (line: Line, dir: string): Promise<void> => {
  const { place, layout } = line;
  await patiently(line, () => mustRun(place, [layout.keeper, 'settle', dir], { what: 'Ending a run' }));
};

/** Makes a folder for its owner alone, and its parents. */
export const makeFolder = async (line: Line, path: string): Promise<void> => {
  const argv = ['sh', '-c', 'umask 077; mkdir -p -- "$1"', 'sh', path];
  await patiently(line, () => mustRun(line.place, argv, { what: 'Making a folder' }));
};

/** The size is told, since a connection that was cut looks like the end of a file. */
const putArguments = ({ layout }: Line, path: string, { mode, size }: { readonly mode: number; readonly size: number }) => [
  layout.keeper,
  'put',
  path,
  '--mode',
  mode.toString(8),
  '--make-parents',
  '700',
  '--size',
  String(size),
];

/** Writes a file whole, or not at all. Its bytes go through stdin. */
export const putFile = async (
  line: Line,
  path: string,
  { bytes, mode }: { readonly bytes: Uint8Array; readonly mode: number },
): Promise<void> => {
  const argv = putArguments(line, path, { mode, size: bytes.length });
  await patiently(line, () => mustRun(line.place, argv, { what: 'Writing a file', stdin: bytes }));
};

/** Goes down from a folder, one name at a time, and is not led anywhere else by a link that a program put there. */
const DOWN = `set -f; umask 077; cd -P -- "$1" || exit 1
at=$(pwd -P); keeper=$2; IFS=/
for part in $3; do
  mkdir -- "./$part" 2>/dev/null
  cd -P -- "./$part" 2>/dev/null || exit ${IN_THE_WAY}
  at="$at/$part"
  [ "$(pwd -P)" = "$at" ] || exit ${IN_THE_WAY}
done
shift 3; exec "$keeper" put "$@"`;

/** Writes a private file below a folder that programs write to, through no link. @throws OrreryError conflict */
export const putBelow = (
  line: Line,
  { root, path, bytes }: { readonly root: string; readonly path: string; readonly bytes: Uint8Array },
): Promise<void> =>
  patiently(line, async () => {
    const names = posix.normalize(`/${path}`).slice(1).split('/');
    const [keeper = '', , ...rest] = putArguments(line, '', { mode: 0o600, size: bytes.length });
    const own = rest.with(0, `./${names.at(-1) ?? ''}`);
    const argv = ['sh', '-c', DOWN, 'sh', root, keeper, names.slice(0, -1).join('/'), ...own];
    const answer = await runInPlace(line.place, argv, { stdin: bytes });
    if (answer.exitCode === IN_THE_WAY) throw inTheWay(path);
    if (answer.exitCode !== 0) throw commandFailed('Writing a file', answer);
  });

/** The bytes of a file, or null when it is not there. */
export const takeFile = (line: Line, path: string): Promise<Buffer | null> =>
  patiently(line, async () => {
    const script = 'test -e "$1" || exit 44; exec cat -- "$1"';
    const answer = await runInPlace(line.place, ['sh', '-c', script, 'sh', path]);
    if (answer.exitCode === 44) return null;
    if (answer.exitCode !== 0) throw commandFailed('Reading a file', answer);
    return answer.stdout;
  });

/** Which of `paths` are there. */
export const existing = (line: Line, paths: readonly string[]): Promise<ReadonlySet<string>> =>
  patiently(line, async () => {
    if (paths.length === 0) return new Set();
    const said = await mustRun(line.place, ['sh', '-c', LOOK_FOR, 'sh', ...paths], { what: 'Looking for paths' });
    return presentIn(said.toString('latin1'), paths);
  });

/** A fresh connection to the keeper of `dir`. */
export const dialRun = async ({ place, layout }: Line, dir: string): Promise<Duplex> => {
  const process = await startInPlace(place, { argv: [layout.keeper, 'attach', dir], stdin: 'open', timeoutMs: null });
  const { stdio } = process;
  stdio.once('close', () => process.close());
  // A view that says no more is over, also where its other direction is still open.
  stdio.once('end', () => stdio.destroy());
  void process.ended.then((ended) => {
    if ('lost' in ended) stdio.destroy(unreachable(ended.lost));
  });
  return stdio;
};

/** Exit code of `spool` for bytes that were released. */
const TRIMMED = 4;

const trimmed = (stream: OutputStream, offset: number): OrreryError =>
  new OrreryError('history_expired', `Output of ${stream} from byte ${offset} is gone.`, {
    rule: 'What was taken over was trimmed.',
    details: { stream, offset },
  });

/** Spooled output from an offset to what is there now; a connection that breaks is made again from where it was. */
export async function* readPlaceSpool(
  line: Line,
  dir: string,
  { stream, from }: { readonly stream: OutputStream; readonly from: number },
): AsyncGenerator<OutputChunk> {
  let offset = from;
  let pauses = createPauses(line);
  for (;;) {
    try {
      for await (const bytes of spoolOnce(line, dir, { stream, from: offset })) {
        yield { offset, bytes };
        offset += bytes.length;
        pauses = createPauses(line);
      }
      return;
    } catch (thrown) {
      await judgeFailure(line, thrown instanceof OrreryError ? thrown : unreachable('its output broke off', thrown));
      await pauses.next(thrown);
    }
  }
}

async function* spoolOnce(
  { place, layout }: Line,
  dir: string,
  { stream, from }: { readonly stream: OutputStream; readonly from: number },
): AsyncGenerator<Buffer> {
  const argv = [layout.keeper, 'spool', dir, stream, '--from', String(from)];
  const process = await startInPlace(place, { argv, timeoutMs: null });
  try {
    yield* process.stdio as AsyncIterable<Buffer>;
    const ended = await process.ended;
    if ('lost' in ended) throw unreachable(ended.lost);
    if (ended.exitCode === TRIMMED) throw trimmed(stream, from);
    if (ended.exitCode !== 0) throw commandFailed('Reading output', { ...ended, stderr: process.stderr() });
  } finally {
    process.close();
  }
}
