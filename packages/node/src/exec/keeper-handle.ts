// Handles of programs under keepers: of a living one, and of what is left of a dead one.
import type { ExitRecord, KeeperClient, KeeperConnection, KeeperIdentity, KeeperRemains } from '../keeper/types.ts';
import { keeperLost } from '../keeper/lost.ts';
import { OrreryError } from '@orrery/protocol/errors';
import type { Handle, RunEnd } from './backend.ts';

/** A keeper's exit record as the end of a run. */
export const toRunEnd = (exit: ExitRecord): RunEnd => ({
  exitCode: exit.code,
  signal: exit.signal,
  limit: exit.limit,
  reason: exit.reason,
  tookMs: exit.startedAtMs === null ? 0 : Math.max(0, exit.endedAtMs - exit.startedAtMs),
  userMs: exit.userMs,
  systemMs: exit.systemMs,
  maxRssBytes: exit.maxRssBytes,
  stdoutBytes: exit.stdoutBytes,
  stderrBytes: exit.stderrBytes,
});

/** The handle of a program whose keeper lives. */
export const liveHandle = (runId: string, connection: KeeperConnection, keeper: KeeperClient): Handle => ({
  id: runId,
  identity: connection.identity,
  go: connection.go,
  output: connection.output,
  write: connection.write,
  closeInput: connection.closeInput,
  inputState: connection.inputState,
  resize: connection.resize,
  wait: async () => toRunEnd(await connection.wait()),
  tryWait: async () => {
    const { state } = await connection.status();
    return state === 'ended' ? toRunEnd(await connection.wait()) : null;
  },
  terminate: connection.terminate,
  kill: connection.kill,
  release: connection.release,
  finish: async () => {
    await connection.finish();
    connection.close();
    await keeper.remove(connection.dir);
  },
  detach: connection.close,
});

const ended = (): Promise<never> =>
  Promise.reject(new OrreryError('conflict', 'The program has ended.', { rule: 'Input goes to programs that run.' }));

/** What a dead keeper left: its output and how it ended can be read, everything else is over. */
export type DeadRun = {
  readonly runId: string;
  readonly dir: string;
  readonly remains: KeeperRemains & { readonly identity: KeeperIdentity };
};

/** The handle of a program whose keeper is gone. `wait` rejects with `keeper_lost` when it left no exit record. */
export const deadHandle = ({ runId, dir, remains }: DeadRun, keeper: KeeperClient): Handle => {
  const end = (): Promise<RunEnd> =>
    remains.exit === null ? Promise.reject(keeperLost('it left no record of an end')) : Promise.resolve(toRunEnd(remains.exit));
  return {
    id: runId,
    identity: remains.identity,
    go: () => Promise.resolve(),
    output: (stream, fromOffset) => keeper.readSpool(dir, stream, fromOffset),
    write: ended,
    closeInput: ended,
    inputState: (id) => keeper.inputState(dir, id),
    resize: ended,
    wait: end,
    tryWait: end,
    // A program ends with its keeper, so there is nobody to ask and nothing to end.
    terminate: () => Promise.resolve(),
    kill: () => Promise.resolve(),
    release: () => Promise.resolve(),
    finish: () => keeper.remove(dir),
    detach: () => undefined,
  };
};
