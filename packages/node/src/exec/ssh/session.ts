// One command on the host, seen through a client process that was started for it.
import { Duplex, Transform } from 'node:stream';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StartedCommand } from '../../kernel/spawner.ts';
import type { PlaceCommand, PlaceProcess } from '../remote/place.ts';
import { createGreeter, openingLine } from './entry.ts';
import type { Greeter, Opening } from './entry.ts';
import { GREETING_BYTES, LAST_WORDS_MS, STDERR_BYTES } from './limits.ts';

/** The code by which the client says that it has no connection, or lost it. */
const CLIENT_FAILED = 255;

type Ended = Awaited<PlaceProcess['ended']>;

/** How a session ended, for who keeps the connection. `greeted`: the host ran the command's shell. */
export type SessionEnd = { readonly greeted: boolean; readonly ended: Ended; readonly said: string };

/** A command on the host. */
export type Session = PlaceProcess & {
  readonly over: Promise<SessionEnd>;
  /** Ends the view, and says why. */
  giveUp(why: string): void;
};

/** What is started. */
export type SessionSpec = {
  readonly opening: Opening;
  readonly stdin: PlaceCommand['stdin'];
  readonly timeoutMs: number | null;
};

/** Its last words, and when there are no more to come. */
type Tail = { readonly text: () => string; readonly over: Promise<void> };

const tailOf = (stream: Readable | null): Tail => {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  if (stream === null) resolve();
  let tail = Buffer.alloc(0);
  stream?.on('data', (bytes: Buffer) => {
    tail = Buffer.concat([tail, bytes]).subarray(-STDERR_BYTES);
  });
  stream?.on('error', () => undefined);
  stream?.once('close', resolve);
  return { text: () => tail.toString('utf8'), over };
};

/** Passes on what comes after the greeting. */
const behindGreeting = (greeter: Greeter, onGreeted: () => void): Transform =>
  new Transform({
    transform: (bytes: Buffer, _encoding, done) => {
      try {
        const rest = greeter.push(bytes);
        if (rest !== null) onGreeted();
        done(null, rest === null || rest.length === 0 ? undefined : rest);
      } catch (thrown) {
        done(thrown instanceof Error ? thrown : new Error(String(thrown)));
      }
    },
  });

const feed = (client: StartedCommand, { opening, stdin }: SessionSpec): void => {
  const input = client.stdin!;
  input.on('error', () => undefined);
  input.write(openingLine(opening));
  if (stdin === 'open') return;
  if (stdin === undefined) input.end();
  else if (stdin instanceof Uint8Array) input.end(stdin);
  // What cannot be read in full must not look like a whole input.
  else void pipeline(stdin, input).catch(() => client.endGroup());
};

/** Starts the command in `client`, which was started with a stdin and a stderr. */
export const startSession = (client: StartedCommand, spec: SessionSpec): Session => {
  const tail = tailOf(client.stderr);
  const stderr = tail.text;
  const greeter = createGreeter(spec.opening.mark, GREETING_BYTES);
  const state: { greeted: boolean; why: string | null } = { greeted: false, why: null };
  const behind = behindGreeting(greeter, () => {
    state.greeted = true;
  });
  const giveUp = (why: string): void => {
    state.why ??= why;
    client.endGroup();
    client.release();
  };
  const reading = pipeline(client.stdout, behind).catch((thrown: unknown) =>
    giveUp(thrown instanceof Error ? thrown.message : 'its output broke off'),
  );
  const stdio = Duplex.from({ readable: behind, writable: client.stdin! });
  stdio.on('error', () => undefined);
  const timer = spec.timeoutMs === null ? null : setTimeout(() => giveUp(`no end within ${spec.timeoutMs} ms`), spec.timeoutMs);
  const finish = async (): Promise<SessionEnd> => {
    const ending = await client.ended;
    await reading;
    if (timer !== null) clearTimeout(timer);
    // A client may be gone before its last words are read; what it left behind may hold its stderr open for ever.
    if (stderr() === '' && ending.kind === 'exited' && ending.code === CLIENT_FAILED)
      await Promise.race([tail.over, sleep(LAST_WORDS_MS)]);
    const said = stderr();
    const lost = (why: string): SessionEnd => ({
      greeted: state.greeted,
      ended: { lost: state.why ?? why },
      said: said || greeter.said(),
    });
    if (ending.kind === 'not_started') return lost(ending.cause.message);
    if (ending.kind === 'lost') return lost(ending.cause.message);
    const { code } = ending;
    if (state.why !== null || code === null || code === CLIENT_FAILED) return lost(said.trim() || 'the connection ended');
    if (!state.greeted) return lost(`the login shell ended with ${code}: ${greeter.said() || said.trim()}`);
    return { greeted: true, ended: { exitCode: code }, said };
  };
  const over = finish();
  feed(client, spec);
  return {
    stdio,
    stderr,
    over,
    giveUp,
    ended: over.then(({ ended }) => ended),
    close: () => {
      stdio.destroy();
      giveUp('the view was dropped');
    },
  };
};
