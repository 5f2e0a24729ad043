// The node's door to keepers.
import type { Duplex } from 'node:stream';
import { OrreryError } from '@orrery/protocol/errors';
import { systemClock } from '../kernel/clock.ts';
import type { Clock } from '../kernel/clock.ts';
import { directSpawner, type Spawner } from '../kernel/spawner.ts';
import { openChannel } from './channel.ts';
import type { Channel, StreamFrame } from './channel.ts';
import { createConnection } from './connection.ts';
import { dialKeeper } from './dial.ts';
import { keeperAlive, prepareDirectory, readInputState, readRemains, readStatus, removeDirectory } from './directory.ts';
import { isAlive, sameIdentity, systemProcesses } from './identity.ts';
import type { ProcessTable } from './identity.ts';
import { CONNECT_MS, GONE_MS, GONE_POLL_MS } from './limits.ts';
import { refusalError } from './refusal.ts';
import { keeperLost } from './lost.ts';
import { probeMachine, startKeeper } from './spawn-keeper.ts';
import type { KeeperProgram } from './spawn-keeper.ts';
import { readSpoolFile } from './spool.ts';
import type { KeeperClient, KeeperConnection, KeeperIdentity, KeeperSpec } from './types.ts';

/** What the client is made of; only the binary is needed. */
export type KeeperClientOptions = {
  /** Path of the keeper program, or how to find it (`findKeeperBinary`): asked when it is needed, so that a node without one starts and says so. */
  readonly binary: string | (() => string);
  /** The whole environment of keepers themselves, never of what they run. Default: empty. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly processes?: ProcessTable;
  readonly clock?: Clock;
  readonly endProcess?: (pid: number) => void;
  /** What starts keepers. Default: this process. */
  readonly spawner?: Spawner;
};

type Parts = Omit<Required<KeeperClientOptions>, 'binary' | 'environment'> & { readonly program: () => KeeperProgram };

const endProcess = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'ESRCH')) throw thrown;
  }
};

const connect = async (parts: Parts, dir: string, identity: KeeperIdentity): Promise<KeeperConnection> => {
  const dial = (): Promise<Duplex> =>
    dialKeeper(parts.program, dir).catch((thrown: unknown) => {
      throw keeperLost('it does not listen', thrown);
    });
  const open = async (onStream?: (frame: StreamFrame) => void): Promise<Channel> => {
    const channel = await openChannel(await dial(), onStream);
    if (sameIdentity(channel.hello, identity)) return channel;
    channel.close();
    throw keeperLost('another process answers in its place');
  };
  const { processes, clock } = parts;
  return createConnection({ dir, identity, channel: await open(), open, dial, processes, clock, endProcess: parts.endProcess });
};

/** Ends the process of a keeper, and with it its tree, without talking to it. */
const endUnasked = async (parts: Parts, dir: string): Promise<void> => {
  const identity = await readStatus(dir);
  if (identity !== null && (await isAlive(identity, parts.processes))) parts.endProcess(identity.pid);
  const start = parts.clock.monotonicMs();
  while (await keeperAlive(dir, parts.processes)) {
    if (parts.clock.monotonicMs() - start >= GONE_MS) throw keeperLost(`process ${identity?.pid} does not go away`);
    await parts.clock.sleep(GONE_POLL_MS);
  }
};

/** Nothing ran: neither a waiting keeper nor the directory, with the environment's values in it, outlives the attempt. */
const abandon = async (parts: Parts, dir: string): Promise<void> => {
  await endUnasked(parts, dir);
  await removeDirectory(dir, parts.processes);
};

const launch = async (parts: Parts, dir: string, spec: KeeperSpec): Promise<KeeperConnection> => {
  await prepareDirectory(dir, spec);
  try {
    const word = await startKeeper(parts.program(), dir, parts.spawner);
    if (word.kind === 'refused') throw refusalError(word.reason);
    return await connect(parts, dir, word.identity);
  } catch (thrown) {
    await abandon(parts, dir);
    throw thrown;
  }
};

const adopt = async (parts: Parts, dir: string): Promise<KeeperConnection | null> => {
  const identity = await readStatus(dir);
  if (identity === null) return null;
  // A keeper writes its status a moment before it listens, and leaves a moment after it stops: asked again until either is clear.
  const start = parts.clock.monotonicMs();
  for (;;) {
    if (!(await isAlive(identity, parts.processes))) return null;
    try {
      return await connect(parts, dir, identity);
    } catch (thrown) {
      const lost = thrown instanceof OrreryError && thrown.code === 'keeper_lost';
      if (!lost || parts.clock.monotonicMs() - start >= CONNECT_MS) throw thrown;
      await parts.clock.sleep(GONE_POLL_MS);
    }
  }
};

/** Asks first, since a keeper that ends its tree itself leaves an exit record; one that cannot be reached is ended. */
const end = async (parts: Parts, dir: string): Promise<void> => {
  try {
    const connection = await adopt(parts, dir);
    await connection?.kill();
    await connection?.finish();
    connection?.close();
  } catch (thrown) {
    if (!(thrown instanceof OrreryError) || thrown.code !== 'keeper_lost') throw thrown;
  }
  await endUnasked(parts, dir);
};

/** A client that starts keepers from `binary`. Holds no state: everything it knows is in the keepers' directories. */
export const createKeeperClient = (options: KeeperClientOptions): KeeperClient => {
  const { binary, environment = {}, ...rest } = options;
  const program = (): KeeperProgram => ({ binary: typeof binary === 'string' ? binary : binary(), environment });
  const parts: Parts = { processes: systemProcesses, clock: systemClock, endProcess, spawner: directSpawner, ...rest, program };
  return {
    launch: (dir, spec) => launch(parts, dir, spec),
    adopt: (dir) => adopt(parts, dir),
    remains: readRemains,
    readSpool: readSpoolFile,
    inputState: (dir, id) => readInputState(dir, id, parts.processes),
    probe: () => Promise.resolve().then(() => probeMachine(parts.program())),
    end: (dir) => end(parts, dir),
    remove: (dir) => removeDirectory(dir, parts.processes),
  };
};
