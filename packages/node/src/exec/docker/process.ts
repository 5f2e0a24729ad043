// One command in a container, over the engine's connection.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { PlaceCommand, PlaceProcess } from '../remote/place.ts';
import { demux } from './demux.ts';
import type { Engine } from './engine.ts';
import { ASK_AGAIN_MS, EXIT_KNOWN_MS, STDERR_TAIL_BYTES } from './limits.ts';

type Ended = Awaited<PlaceProcess['ended']>;

/** The variable by which a command is found inside when it has to be ended: the engine ends none. */
const MARK = 'ORRERY_COMMAND';
const END_MARKED = 'for at in /proc/[0-9]*; do grep -qs "$1" "$at/environ" && kill -9 "${at#/proc/}" 2>/dev/null; done; true';

/** The last bytes of what is written to it. */
const createTail = (limit: number) => {
  let kept = Buffer.alloc(0);
  return {
    take: (bytes: Buffer): void => {
      kept = Buffer.concat([kept, bytes]).subarray(-limit);
    },
    text: (): string => kept.toString('utf8'),
  };
};

/** The exit code of a command whose streams are at their end: the engine notices a moment later. */
const askExit = async (engine: Engine, execId: string): Promise<Ended> => {
  try {
    for (const start = performance.now(); performance.now() - start < EXIT_KNOWN_MS; await sleep(ASK_AGAIN_MS)) {
      const exitCode = await engine.exitCode(execId);
      if (exitCode !== null) return { exitCode };
    }
    return { lost: 'its streams were closed and it did not end' };
  } catch (thrown) {
    return { lost: thrown instanceof Error ? thrown.message : String(thrown) };
  }
};

type Streams = {
  readonly connection: Duplex;
  readonly onStderr: (bytes: Buffer) => void;
  /** Both output streams are at their end, or the connection broke. */
  readonly onEnd: (failure: Error | null) => void;
};

/** stdin and stdout as one stream with back-pressure both ways; ending it tells the command that its input is over. */
const createStdio = ({ connection, onStderr, onEnd }: Streams): Duplex => {
  const frames = demux(connection as AsyncIterable<Buffer>, onStderr);
  const stdio = new Duplex({
    read: () => {
      frames.next().then(
        ({ done, value }) => {
          if (done === true) onEnd(null);
          stdio.push(done === true ? null : value);
        },
        (thrown: Error) => {
          onEnd(thrown);
          stdio.destroy(thrown);
        },
      );
    },
    write: (bytes: Buffer, _encoding, done) => void connection.write(bytes, done),
    final: (done) => void connection.end(done),
    destroy: (failure, done) => {
      connection.destroy();
      done(failure);
    },
  });
  // An end that nobody listens for is told by `ended`.
  stdio.on('error', () => undefined);
  connection.on('error', () => undefined);
  return stdio;
};

const feed = (stdio: Duplex, stdin: PlaceCommand['stdin']): void => {
  if (stdin === 'open') return;
  if (stdin === undefined) stdio.end();
  else if (stdin instanceof Uint8Array) stdio.end(stdin);
  // A command that does not want all of its input says so by its end, not here.
  else pipeline(stdin, stdio as NodeJS.WritableStream).catch(() => undefined);
};

/** Where a command runs and as whom. */
export type ProcessPlace = { readonly engine: Engine; readonly containerId: string; readonly user: string };

/** Starts `command`. Its first output is taken at once, so that its end is known to whoever reads nothing. */
export const startProcess = async ({ engine, containerId, user }: ProcessPlace, command: PlaceCommand): Promise<PlaceProcess> => {
  const mark = `${MARK}=${randomUUID()}`;
  const { argv, stdin, timeoutMs } = command;
  const request = { argv, user, variables: [mark], stdin: stdin !== undefined };
  const { execId, connection } = await engine.exec(containerId, request);
  const tail = createTail(STDERR_TAIL_BYTES);
  const { promise: ended, resolve } = Promise.withResolvers<Ended>();
  const stdio = createStdio({
    connection,
    onStderr: tail.take,
    onEnd: (failure) => (failure === null ? void askExit(engine, execId).then(resolve) : resolve({ lost: failure.message })),
  });
  const close = (why = 'the view was dropped'): void => {
    resolve({ lost: why });
    stdio.destroy();
  };
  const endMarked = async (): Promise<void> => {
    const kill = { argv: ['sh', '-c', END_MARKED, 'sh', mark], user, variables: [], stdin: false };
    await engine.exec(containerId, kill).then(
      ({ connection: killing }) => killing.resume(),
      () => undefined,
    );
    close(`it took longer than ${timeoutMs} ms`);
  };
  const timer = timeoutMs === null ? undefined : setTimeout(() => void endMarked(), timeoutMs);
  void ended.then(() => clearTimeout(timer));
  feed(stdio, stdin);
  stdio.read(0);
  return { stdio, stderr: tail.text, ended, close: () => close() };
};
