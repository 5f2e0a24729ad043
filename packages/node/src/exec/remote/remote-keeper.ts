// The node's door to keepers in a place: the same as to keepers of this machine.
import { OrreryError } from '@orrery/protocol/errors';
import type { KeeperClient, KeeperConnection, KeeperRemains, KeeperSpec } from '../../keeper/types.ts';
import { readFirstWord } from '../../keeper/spawn-keeper.ts';
import { refusalError } from '../../keeper/refusal.ts';
import { renderEnvFile, renderSpecFile } from '../../keeper/spec-file.ts';
import { keeperLost } from '../../keeper/lost.ts';
import { commandFailed, runInPlace } from './command.ts';
import type { PlaceAnswer } from './command.ts';
import { COUNTERS, memoryKillsIn, READ_COUNTERS } from './memory-kills.ts';
import { checkThere, createPauses, isUnreachable, judgeFailure, patiently } from './patience.ts';
import type { Line } from './patience.ts';
import { lookAt, probePlace, readPlaceSpool, settleRun } from './place-tools.ts';
import { connectToRun, inputStateLeft } from './remote-connection.ts';
import { tarOf } from './tar.ts';

/** Exit code of LAUNCH when the run's directory is there already. */
const THERE = 43;
// The spec and the environment come by stdin: nothing of them is in an argument, and both are there before the keeper starts.
// Counters of memory that are named are said before: what the kernel ended until then is not this program's.
const LAUNCH = `umask 077; keeper=$1 dir=$2; shift 2
[ ! -e "$dir" ] || exit ${THERE}
mkdir -- "$dir" && "$keeper" unpack "$dir" || exit
${READ_COUNTERS}
exec "$keeper" run --dir "$dir" --detach`;

/** What a client of keepers in a place works with. */
export type RemoteKeeperParts = {
  readonly line: Line;
  /** Notes how many programs the kernel had ended for want of memory before one begins, where the place counts that. */
  readonly noteMemoryKills: (count: number) => Promise<void>;
};

const checkFirstWord = (said: string, answer: PlaceAnswer): void => {
  const word = readFirstWord(said.trimEnd().split('\n').at(-1) ?? '');
  if (word === null && answer.exitCode !== 0) throw commandFailed('Starting a program', answer);
  if (word === null) throw keeperLost('it ended before it was ready');
  if (word.kind === 'refused') throw refusalError(word.reason);
};

const launchOnce = async ({ line, noteMemoryKills }: RemoteKeeperParts, dir: string, archive: Uint8Array): Promise<void> => {
  const counters = line.place.boundsMemory === true ? COUNTERS : [];
  const argv = ['sh', '-c', LAUNCH, 'sh', line.layout.keeper, dir, ...counters];
  const answer = await runInPlace(line.place, argv, { stdin: archive });
  if (answer.exitCode === THERE) {
    throw new OrreryError('conflict', `A program was already started in ${dir}.`, {
      rule: 'One directory holds one run of one program.',
    });
  }
  const said = answer.stdout.toString('utf8');
  checkFirstWord(said, answer);
  if (counters.length > 0) await noteMemoryKills(memoryKillsIn(said));
};

/** A start whose answer was lost is undone and done again: a keeper has run nothing before it was told to go. */
const launch = async (parts: RemoteKeeperParts, dir: string, spec: KeeperSpec): Promise<KeeperConnection> => {
  const { line } = parts;
  const archive = tarOf([
    { name: 'spec', mode: 0o600, bytes: Buffer.from(renderSpecFile(spec)) },
    { name: 'env', mode: 0o600, bytes: renderEnvFile(spec.env) },
  ]);
  const pauses = createPauses(line);
  let own = false;
  for (;;) {
    try {
      if (own) await settleRun(line, dir);
      await launchOnce(parts, dir, archive);
      own = true;
      return await connectToRun(line, dir, null);
    } catch (thrown) {
      const foreign = thrown instanceof OrreryError && thrown.code === 'conflict';
      if (!foreign && !isUnreachable(thrown)) await settleRun(line, dir).catch(() => undefined);
      await judgeFailure(line, thrown);
      own = true;
      await pauses.next(thrown);
    }
  }
};

const adopt = async (line: Line, dir: string): Promise<KeeperConnection | null> => {
  const found = await patiently(line, () => lookAt(line, dir));
  if (found.missing || found.identity === null || !found.alive) return null;
  try {
    return await connectToRun(line, dir, found.identity);
  } catch (thrown) {
    if (!(thrown instanceof OrreryError && thrown.code === 'keeper_lost')) throw thrown;
    await checkThere(line);
    return null;
  }
};

const remains = async (line: Line, dir: string): Promise<KeeperRemains> => {
  const found = await patiently(line, () => lookAt(line, dir));
  if (found.missing) return { exit: null, identity: null, stdoutBytes: 0, stderrBytes: 0 };
  const { exit, identity, stdoutBytes, stderrBytes } = found;
  return { exit, identity, stdoutBytes, stderrBytes };
};

/** A client of the keepers in the place of a line. Directories are paths in the place. */
export const createRemoteKeeper = (parts: RemoteKeeperParts): KeeperClient => {
  const { line } = parts;
  return {
    launch: (dir, spec) => launch(parts, dir, spec),
    adopt: (dir) => adopt(line, dir),
    remains: (dir) => remains(line, dir),
    readSpool: (dir, stream, from) => readPlaceSpool(line, dir, { stream, from }),
    inputState: (dir, id) => inputStateLeft(line, dir, id),
    probe: () => probePlace(line),
    end: (dir) => settleRun(line, dir),
    remove: (dir) => settleRun(line, dir),
  };
};
