// One connection to the host: a client that waits there, and lets sessions through.
import type { OrreryError } from '@orrery/protocol/errors';
import { forwardLine, sessionLine, masterLine, verboseLine } from './client-line.ts';
import type { Destination } from './client-line.ts';
import { FACTS, readFacts } from './facts.ts';
import type { HostFacts } from './facts.ts';
import { askedConnection } from './asked-connection.ts';
import { failureError, fingerprintIn, readFailure } from './failure.ts';
import { CONNECT_MS, GREETING_BYTES } from './limits.ts';
import { startSession } from './session.ts';
import type { Session, SessionEnd, SessionSpec } from './session.ts';
import type { StartedCommand } from '../../kernel/spawner.ts';

/** What a connection is made with. */
export type ConnectionParts = {
  readonly destination: Destination;
  /** Starts the client with these arguments, in the directory of the sockets. */
  readonly startClient: (args: readonly string[]) => StartedCommand;
  readonly newMark: () => string;
};

/** An open connection. */
export type Connection = {
  readonly facts: HostFacts;
  /** Resolves when it is over, for whatever reason. */
  readonly over: Promise<unknown>;
  session(spec: Omit<SessionSpec, 'opening'> & { readonly opening: Omit<SessionSpec['opening'], 'mark'> }): Session;
  /** Begins forwarding a socket of the host; false where the server refuses. Rejects when the connection is gone. */
  forward(inside: string, target: string): Promise<boolean>;
  /** Ends it; the server leaves the socket's name behind. */
  endForward(inside: string, target: string): void;
  close(): void;
};

const readUntilFacts = async (session: Session): Promise<HostFacts | null> => {
  let text = '';
  // The stream stays open: it ends with the connection.
  const { promise, resolve } = Promise.withResolvers<HostFacts | null>();
  session.stdio.on('data', (bytes: Buffer) => {
    if (text.length > GREETING_BYTES) return;
    text += bytes.toString('utf8');
    const facts = readFacts(text);
    if (facts !== null) resolve(facts);
  });
  void session.over.then(() => resolve(null));
  return promise;
};

/** Asks the client again for the key that the host shows: it says so only when it says everything. */
const shownKey = async ({ destination, startClient, newMark }: ConnectionParts): Promise<ReturnType<typeof fingerprintIn>> => {
  const opening = { argv: ['true'], variables: null, mark: newMark() };
  const session = startSession(startClient(verboseLine(destination)), { opening, stdin: undefined, timeoutMs: CONNECT_MS });
  session.stdio.resume();
  return fingerprintIn((await session.over).said);
};

const explain = async (parts: ConnectionParts, { said, ended }: SessionEnd): Promise<OrreryError> => {
  const why = 'lost' in ended ? ended.lost : `it ended with ${ended.exitCode}`;
  if (why.startsWith('the login shell ended')) return failureError({ kind: 'no_shell', said: why }, parts.destination);
  const failure = readFailure(said.trim() === '' ? why : said);
  const shown = failure.kind === 'unknown_key' ? await shownKey(parts) : null;
  return failureError(failure, parts.destination, shown);
};

/**
 * Connects, and resolves when sessions can go through `socket`. Rejects with `backend_unavailable` when a person has to do
 * something (a key, a login), with `backend_unreachable` when it may pass.
 */
export const connect = async (parts: ConnectionParts, socket: string): Promise<Connection> => {
  const { destination, startClient, newMark } = parts;
  const opening = { argv: ['sh', '-c', FACTS], variables: null, mark: newMark() };
  const own = startSession(startClient(masterLine(destination, socket)), { opening, stdin: 'open', timeoutMs: null });
  const late = setTimeout(() => own.giveUp(`no answer within ${CONNECT_MS / 1000} s`), CONNECT_MS);
  const facts = await readUntilFacts(own);
  clearTimeout(late);
  if (facts === null) throw await explain(parts, await own.over);
  return {
    facts,
    over: own.over,
    session: (spec) =>
      startSession(startClient(sessionLine(destination, socket)), { ...spec, opening: { ...spec.opening, mark: newMark() } }),
    forward: (inside, target) =>
      askedConnection(startClient(forwardLine(destination, socket, { verb: 'forward', inside, target }))),
    endForward: (inside, target) => {
      // Nothing hangs on it: with the connection it ends in any case.
      askedConnection(startClient(forwardLine(destination, socket, { verb: 'cancel', inside, target }))).catch(() => undefined);
    },
    close: () => own.close(),
  };
};
