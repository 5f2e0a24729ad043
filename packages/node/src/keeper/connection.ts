// A view of one living keeper, and what each call does when the keeper is gone.
import type { Duplex } from 'node:stream';
import { OrreryError } from '@orrery/protocol/errors';
import type { Clock } from '../kernel/clock.ts';
import { KeeperRefusal } from './channel.ts';
import type { Channel, StreamFrame } from './channel.ts';
import { readExitRecord, readInputState as readInputStateOfFiles } from './directory.ts';
import { encodeInput, encodeSize, encodeStreamOffset } from './frames.ts';
import type { RequestName } from './frames.ts';
import { isAlive } from './identity.ts';
import type { ProcessTable } from './identity.ts';
import { GONE_MS, GONE_POLL_MS, KILL_MS, CONNECT_MS } from './limits.ts';
import { readLive } from './live-output.ts';
import { askReach } from './reach.ts';
import { keeperLost } from './lost.ts';
import { readExit, readHello, readInputState } from './records.ts';
import { checkInput, translateRefusal } from './requests.ts';
import { readSpoolFile } from './spool.ts';
import type {
  ExitRecord,
  InputState,
  KeeperConnection,
  KeeperIdentity,
  KeeperStatus,
  OutputChunk,
  OutputStream,
} from './types.ts';

/** What a view needs of the world. */
export type ConnectionParts = {
  readonly dir: string;
  readonly identity: KeeperIdentity;
  readonly channel: Channel;
  /** Another connection to the same keeper. */
  readonly open: (onStream?: (frame: StreamFrame) => void) => Promise<Channel>;
  /** A connection to it that nothing was said on. */
  readonly dial: () => Promise<Duplex>;
  readonly processes: ProcessTable;
  readonly clock: Clock;
  /** Ends a process of this machine at once (SIGKILL). */
  readonly endProcess: (pid: number) => void;
};

const createGone = ({ dir, identity, processes, clock }: ConnectionParts) => {
  /** Whether the process ends within the time it may take; a keeper that closed its socket is on its way out. */
  const isGone = async (withinMs: number): Promise<boolean> => {
    for (let waited = 0; await isAlive(identity, processes); waited += GONE_POLL_MS) {
      if (waited >= withinMs) return false;
      await clock.sleep(GONE_POLL_MS);
    }
    return true;
  };
  /** The last word of a keeper that is gone; rejects when it lives or left none. */
  const exitOfGone = async (cause: unknown): Promise<ExitRecord> => {
    const exit = (await isGone(GONE_MS)) ? await readExitRecord(dir) : null;
    if (exit === null) throw cause;
    return exit;
  };
  return { isGone, exitOfGone };
};

const createOutput = (parts: ConnectionParts, closed: () => boolean) =>
  async function* output(stream: OutputStream, fromOffset: number): AsyncGenerator<OutputChunk> {
    let offset = fromOffset;
    let loss: unknown = keeperLost('its connection ended');
    try {
      const live = yield* readLive(parts.open, stream, fromOffset);
      if (live.end === 'eof') return;
      offset = live.offset;
    } catch (thrown) {
      if (!(thrown instanceof OrreryError && thrown.code === 'keeper_lost')) throw translateRefusal(thrown);
      loss = thrown;
    }
    if (closed())
      throw new OrreryError('stale', 'This view of the program was dropped.', {
        rule: 'The program goes on; open another view.',
      });
    // The keeper is gone or going; what it had written is in its file.
    const exit = await createGone(parts)
      .exitOfGone(loss)
      .catch(() => null);
    yield* readSpoolFile(parts.dir, stream, offset);
    if (exit === null) throw loss;
  };

const createKill = (parts: ConnectionParts, ask: (name: RequestName) => Promise<unknown>) => async (): Promise<void> => {
  const { identity, processes } = parts;
  const { isGone } = createGone(parts);
  const answer = ask('kill').then(
    () => true,
    () => false,
  );
  const stop = new AbortController();
  const late = parts.clock.sleep(KILL_MS, stop.signal).then(
    () => false,
    () => false,
  );
  const answered = await Promise.race([answer, late]);
  stop.abort();
  if (answered || (await isGone(0))) return;
  if (await isAlive(identity, processes)) parts.endProcess(identity.pid);
  if (!(await isGone(GONE_MS))) throw keeperLost(`process ${identity.pid} does not go away`);
};

const createReach =
  ({ dial, identity, clock }: ConnectionParts) =>
  async (port: number): Promise<Duplex | null> => {
    const socket = await dial();
    const stop = new AbortController();
    clock.sleep(CONNECT_MS, stop.signal).then(
      () => socket.destroy(),
      () => undefined,
    );
    try {
      const refusal = await askReach(socket, { port, identity, lost: () => keeperLost('its connection ended') });
      if (refusal === null) return socket;
      socket.destroy();
      if (['no-listener', 'not-running', 'ECONNREFUSED'].includes(refusal)) return null;
      throw new OrreryError(refusal === 'busy' ? 'busy' : 'internal', `The port ${port} cannot be reached: ${refusal}.`);
    } catch (thrown) {
      socket.destroy();
      throw thrown;
    } finally {
      stop.abort();
    }
  };

/** A view over an open channel. */
export const createConnection = (parts: ConnectionParts): KeeperConnection => {
  const { dir, identity, channel, processes } = parts;
  const { isGone, exitOfGone } = createGone(parts);
  const views = new Set<Channel>();
  let closed = false;
  const ask = (name: RequestName, body?: Uint8Array): Promise<unknown> =>
    channel.request(name, body).catch((thrown: unknown) => {
      throw translateRefusal(thrown);
    });
  const askUnlessGone = async (name: RequestName, body?: Uint8Array): Promise<void> => {
    try {
      await ask(name, body);
    } catch (thrown) {
      if (!(thrown instanceof OrreryError) || thrown.code !== 'keeper_lost' || !(await isGone(GONE_MS))) throw thrown;
    }
  };
  const openView = async (onStream?: (frame: StreamFrame) => void): Promise<Channel> => {
    const view = await parts.open(onStream);
    if (closed) view.close();
    views.add(view);
    void view.closed.then(() => views.delete(view));
    return view;
  };
  return {
    dir,
    identity,
    guarantees: channel.hello.guarantees,
    go: async () => {
      await channel.request('go').catch((thrown: unknown) => {
        if (!(thrown instanceof KeeperRefusal) || !['exec', 'ended'].includes(thrown.code)) throw translateRefusal(thrown);
      });
    },
    status: async (): Promise<KeeperStatus> => {
      const { state, exit, stdoutBytes, stderrBytes } = readHello(await ask('status'));
      return { state, exit, stdoutBytes, stderrBytes };
    },
    output: createOutput({ ...parts, open: openView }, () => closed),
    write: async (id, bytes): Promise<InputState> => {
      checkInput(id, bytes);
      return readInputState(await ask('input', encodeInput(id, bytes)));
    },
    closeInput: async () => void (await ask('closeInput')),
    inputState: async (id) => {
      checkInput(id, new Uint8Array());
      try {
        return readInputState(await ask('inputState', encodeInput(id)));
      } catch (thrown) {
        if (!(thrown instanceof OrreryError) || thrown.code !== 'keeper_lost' || closed) throw thrown;
        return readInputStateOfFiles(dir, id, processes);
      }
    },
    resize: async (columns, rows) => void (await ask('resize', encodeSize(columns, rows))),
    signal: async (name) => void (await ask('signal', Buffer.from(name, 'latin1'))),
    terminate: () => askUnlessGone('terminate'),
    kill: createKill(parts, ask),
    wait: () => ask('wait').then(readExit, exitOfGone),
    release: (stream, offset) => askUnlessGone('release', encodeStreamOffset(stream, offset)),
    finish: async () => {
      await askUnlessGone('finish');
      if (!(await isGone(GONE_MS))) throw keeperLost(`process ${identity.pid} does not go away`);
    },
    reach: createReach(parts),
    close: () => {
      closed = true;
      channel.close();
      for (const view of views) view.close();
    },
  };
};
