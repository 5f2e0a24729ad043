// The view of a keeper in a place, as the node sees every keeper.
import { OrreryError } from '@orrery/protocol/errors';
import { encodeInput, encodeSize, encodeStreamOffset } from '../../keeper/frames.ts';
import type { RequestName } from '../../keeper/frames.ts';
import { inputStateOf } from '../../keeper/input-journal.ts';
import { keeperLost } from '../../keeper/lost.ts';
import { readExit, readHello, readInputState } from '../../keeper/records.ts';
import { checkInput } from '../../keeper/requests.ts';
import type {
  ExitRecord,
  InputState,
  KeeperConnection,
  KeeperIdentity,
  KeeperStatus,
  OutputChunk,
  OutputStream,
} from '../../keeper/types.ts';
import { runInPlace } from './command.ts';
import { REMOTE_KILL_MS } from './limits.ts';
import { openLink } from './link.ts';
import type { Link } from './link.ts';
import { patiently } from './patience.ts';
import type { Line } from './patience.ts';
import { reachRun } from './reach.ts';
import { dialRun, lookAt, readPlaceSpool, takeFile } from './place-tools.ts';

const isLost = (thrown: unknown): boolean => thrown instanceof OrreryError && thrown.code === 'keeper_lost';

/** How the program of a keeper that is gone ended; null when it left no record, or the place is gone with it. */
const exitLeft = (line: Line, dir: string): Promise<ExitRecord | null> =>
  patiently(line, async () => {
    const found = await lookAt(line, dir);
    return found.missing ? null : found.exit;
  }).catch((thrown: unknown) => {
    if (isLost(thrown)) return null;
    throw thrown;
  });

/** What happened to an input, from the journal in the place. */
export const inputStateLeft = async (line: Line, dir: string, id: string): Promise<InputState> => {
  checkInput(id, new Uint8Array());
  const journal = await takeFile(line, `${dir}/input`);
  if (journal === null) return { state: 'unwritten' };
  const found = await patiently(line, () => lookAt(line, dir));
  const sameBoot = !found.missing && found.identity !== null && found.identity.bootId === found.bootId;
  return inputStateOf(journal.toString('latin1'), id, sameBoot);
};

type View = { readonly line: Line; readonly dir: string; readonly link: Link; readonly another: () => Promise<Link> };

async function* readOutput(view: View, stream: OutputStream, from: number): AsyncGenerator<OutputChunk> {
  const { line, dir } = view;
  const shared = view.link.subscribe(stream, from);
  const link = shared === null ? await view.another() : view.link;
  const reader = shared ?? link.subscribe(stream, from);
  if (reader === null) throw keeperLost('its output is read twice at once');
  let offset = from;
  try {
    for (;;) {
      const frame = await reader.next();
      if (frame.kind === 'eof') return;
      if (frame.kind === 'lost') break;
      yield { offset: frame.offset, bytes: frame.bytes };
      offset = frame.offset + frame.bytes.length;
    }
  } finally {
    link.unsubscribe(reader);
    if (link !== view.link) link.close();
  }
  // The keeper is gone; what it had written is in its file, as long as the place is there.
  const exit = await exitLeft(line, dir);
  const loss = await link.request('status').then(
    () => keeperLost('its connection ended'),
    (thrown: unknown) => thrown,
  );
  yield* readPlaceSpool(line, dir, { stream, from: offset });
  if (exit === null) throw loss;
}

/** A keeper that does not end its tree in time is ended itself, and its tree with it. */
const endUnasked = async (line: Line, dir: string, identity: KeeperIdentity): Promise<void> => {
  const found = await patiently(line, () => lookAt(line, dir));
  if (found.missing || !found.alive || found.identity?.startTicks !== identity.startTicks) return;
  await patiently(line, () => runInPlace(line.place, ['sh', '-c', 'kill -9 "$1"', 'sh', String(identity.pid)]));
};

const createKill =
  ({ line, dir, link }: View, identity: KeeperIdentity) =>
  async (): Promise<void> => {
    const stop = new AbortController();
    const late = line.clock.sleep(REMOTE_KILL_MS, stop.signal).then(
      () => 'late' as const,
      () => 'late' as const,
    );
    try {
      const answered = await Promise.race([link.request('kill'), late]);
      if (answered === 'late') await endUnasked(line, dir, identity);
    } catch (thrown) {
      // Gone already, and its tree with it.
      if (!isLost(thrown)) throw thrown;
    } finally {
      stop.abort();
    }
  };

/** A view of the keeper of `dir`. `identity` null: whoever answers there. Rejects with `keeper_lost` when nobody does any more. */
export const connectToRun = async (line: Line, dir: string, expected: KeeperIdentity | null): Promise<KeeperConnection> => {
  const linkTo = (identity: KeeperIdentity | null): Promise<Link> =>
    openLink({ line, dir, identity, dial: () => dialRun(line, dir), look: () => lookAt(line, dir) });
  const link = await linkTo(expected);
  const { pid, startTicks, bootId, guarantees } = link.hello;
  const identity = { pid, startTicks, bootId };
  const view: View = { line, dir, link, another: () => linkTo(identity) };
  const unlessGone = async (name: RequestName, body?: Uint8Array): Promise<void> => {
    try {
      await link.request(name, body);
    } catch (thrown) {
      if (!isLost(thrown)) throw thrown;
    }
  };
  return {
    dir,
    identity,
    guarantees,
    go: async () => {
      await link.request('go').catch((thrown: unknown) => {
        const refusal = thrown instanceof OrreryError ? thrown.details?.['refusal'] : undefined;
        if (refusal !== 'exec' && refusal !== 'ended') throw thrown;
      });
    },
    status: async (): Promise<KeeperStatus> => {
      const { state, exit, stdoutBytes, stderrBytes } = readHello(await link.request('status'));
      return { state, exit, stdoutBytes, stderrBytes };
    },
    output: (stream, from) => readOutput(view, stream, from),
    write: async (id, bytes) => {
      checkInput(id, bytes);
      return readInputState(await link.request('input', encodeInput(id, bytes)));
    },
    closeInput: async () => void (await link.request('closeInput')),
    inputState: async (id) => {
      checkInput(id, new Uint8Array());
      try {
        return readInputState(await link.request('inputState', encodeInput(id)));
      } catch (thrown) {
        if (!isLost(thrown)) throw thrown;
        return inputStateLeft(line, dir, id);
      }
    },
    resize: async (columns, rows) => void (await link.request('resize', encodeSize(columns, rows))),
    signal: async (name) => void (await link.request('signal', Buffer.from(name, 'latin1'))),
    terminate: () => unlessGone('terminate'),
    kill: createKill(view, identity),
    wait: async () => {
      try {
        return readExit(await link.request('wait'));
      } catch (thrown) {
        const exit = isLost(thrown) ? await exitLeft(line, dir) : null;
        if (exit === null) throw thrown;
        return exit;
      }
    },
    release: (stream, offset) => unlessGone('release', encodeStreamOffset(stream, offset)),
    finish: () => unlessGone('finish'),
    reach: (port) => reachRun(line, dir, port),
    close: () => link.close(),
  };
};
