// A person, or a pipe, at a program in an environment: what comes goes out exactly once, over connections that may break.

import { decodeTerminalBytes, encodeTerminalBytes } from '@orrery/protocol/terminal-frames';
import { createTyped } from '@orrery/client/typed';
import { OrreryError } from '@orrery/protocol/errors';
import type { Connection } from '../../connect.ts';
import type { CommandContext } from '../command.ts';
import { leaves } from './terminal-input.ts';
import { createShown, type Offsets, type Shown } from './terminal-output.ts';

/** How long a connection that broke is tried again: a node may be started anew meanwhile. */
const PATIENCE_MS = 120_000;
const AGAIN_MS = 500;

/** How a session ended. */
export type SessionEnd =
  | { readonly kind: 'detached' }
  | { readonly kind: 'exit'; readonly exitCode: number | null; readonly signal: string | null; readonly reason: string | null };

export type SessionOptions = {
  readonly environment: string;
  readonly terminal: string;
  readonly tty: boolean;
  /** `take`: becomes the one who writes; `watch`: writes nothing and has no size. */
  readonly mode: 'join' | 'take' | 'watch';
  /** Whether its programs may set the clipboard of this terminal. Default: no. */
  readonly clipboard?: boolean;
};

/** Shows a program and hands on what is typed until it ends or the person leaves. */
export const runSession = async (
  context: CommandContext,
  connection: Connection,
  options: SessionOptions,
): Promise<SessionEnd> => {
  const { world } = context;
  const { tty, mode } = options;
  const over = Promise.withResolvers<SessionEnd>();
  const link = createLink(context, connection, options);
  const shown = createShown(context, {
    tty,
    clipboard: options.clipboard === true,
    onSeen: (at) => link.send({ type: 'seen', ...at }),
    onFault: over.reject,
  });
  const typed = createTyped(({ offset, bytes }) => link.input(offset, bytes));
  let inputEnded = false;
  let writer = 'none';

  const sendSize = (): void => {
    const { isTTY, columns, rows } = world.stdout;
    if (tty && mode !== 'watch' && isTTY && columns > 0 && rows > 0) link.send({ type: 'size', columns, rows });
  };
  const type = (bytes: Uint8Array): Promise<void> | undefined => {
    if (tty && world.stdin.isTTY && leaves(bytes)) {
      over.resolve({ kind: 'detached' });
      return undefined;
    }
    // Who looks on types nothing; a terminal's own answers to what it is shown do not either.
    return writer === 'other' ? undefined : typed.push(bytes);
  };
  const endInput = (): void => {
    inputEnded = true;
    // Before the greeting nothing of the input was sent: its end goes behind it, then.
    link.send({ type: 'end-input' });
  };
  const greet = (frame: Frame): void => {
    shown.replayUntil(Number(frame['replayUntil']));
    sendSize();
    if (mode === 'take' && !link.again) link.send({ type: 'take' });
    typed.sendAgain();
    if (inputEnded) link.send({ type: 'end-input' });
  };
  const setWriter = (next: string): void => {
    if (next === 'other' && writer !== 'other' && mode !== 'watch') shown.notice(writer === 'you' ? TAKEN : LOOKING_ON);
    if (next === 'other') typed.forget();
    writer = next;
  };
  const hear = (frame: Frame): void => {
    if (frame.type === 'hello') greet(frame);
    if (frame.type === 'hello' || frame.type === 'writer') {
      // Who takes over is told next that it has.
      if (frame.type === 'writer' || mode !== 'take' || link.again) setWriter(String(frame['writer']));
    } else if (frame.type === 'exit') over.resolve(exitOf(frame));
    else if (frame.type === 'took') typed.took(Number(frame['offset']));
    else tell(shown, frame, typed.forget);
  };
  const releases = [
    world.onResize(sendSize),
    // A terminal in raw mode sends Ctrl-C as a byte; without one it is a signal for the program.
    world.onStop(() => (mode === 'watch' ? over.resolve({ kind: 'detached' }) : link.send({ type: 'terminate' }))),
    ...(mode === 'watch' ? [] : [world.stdin.follow({ onBytes: type, onEnd: endInput })]),
  ];
  link.open({ shown, onFrame: hear, onLost: () => over.reject(lost()) });
  try {
    return await over.promise;
  } finally {
    link.close();
    await shown.finish();
    for (const release of releases) release();
  }
};

const TAKEN = 'Somebody else writes here now. Ctrl-] leaves; come back with --take to write again.';
const LOOKING_ON = 'Somebody else writes here: you look on. Ctrl-] leaves; --take takes over.';

type Frame = { readonly type?: string } & Readonly<Record<string, unknown>>;

type Listening = { readonly shown: Shown; readonly onFrame: (frame: Frame) => void; readonly onLost: () => void };

/** The connection: opened again when it breaks, from where the last one was. */
const createLink = ({ world }: CommandContext, connection: Connection, options: SessionOptions) => {
  let socket: WebSocket | null = null;
  let viewer = '';
  let generation = 0;
  let greeted = false;
  let closed = false;
  let connections = 0;

  const listen = (next: WebSocket, { shown, onFrame }: Listening): Promise<void> => {
    const over = Promise.withResolvers<void>();
    next.binaryType = 'arraybuffer';
    next.addEventListener('message', ({ data }) => {
      if (typeof data !== 'string') return takeBytes(shown, new Uint8Array(data as ArrayBuffer));
      const frame = JSON.parse(data) as Frame;
      if (frame.type === 'hello') {
        viewer = String(frame['viewer']);
        generation = Number(frame['generation']);
        socket = next;
        greeted = true;
        connections += 1;
      }
      onFrame(frame);
    });
    next.addEventListener('close', () => over.resolve());
    next.addEventListener('error', () => undefined);
    return over.promise;
  };
  const keep = async (listening: Listening): Promise<void> => {
    for (let met = world.now(); !closed && world.now() - met <= PATIENCE_MS; await world.sleep(AGAIN_MS)) {
      const next = await connection
        .webSocket(pathOf(options, listening.shown.at, viewer), 'orrery-terminal.v1')
        .catch(() => null);
      if (next === null) continue;
      if (closed) return next.close();
      socket = next;
      await listen(next, listening);
      if (greeted) {
        met = world.now();
        if (!closed) listening.shown.notice('The connection broke. The program goes on; connecting again.');
      }
      greeted = false;
      socket = null;
    }
    if (!closed) listening.onLost();
  };
  const ready = (): WebSocket | null => (greeted && socket?.readyState === WebSocket.OPEN ? socket : null);
  return {
    /** Whether there was a connection before this one. */
    get again() {
      return connections > 1;
    },
    open: (listening: Listening): void => void keep(listening).catch(listening.onLost),
    send: (text: object): void => ready()?.send(JSON.stringify(text)),
    input: (offset: number, bytes: Uint8Array): void =>
      ready()?.send(encodeTerminalBytes({ stream: 'stdin', generation, offset, bytes })),
    close: (): void => {
      closed = true;
      socket?.close();
    },
  };
};

const takeBytes = (shown: Shown, data: Uint8Array): void => {
  const frame = decodeTerminalBytes(data);
  if (frame === null || frame.stream === 'stdin') return;
  if (frame.stream === 'screen') shown.screen(frame.bytes);
  else shown.show(frame.stream, frame.offset, frame.bytes);
};

const pathOf = ({ environment, terminal }: SessionOptions, at: Offsets, viewer: string): string => {
  const path = `/environments/${encodeURIComponent(environment)}/terminals/${encodeURIComponent(terminal)}`;
  return `${path}?window=1&stdout=${at.stdout}&stderr=${at.stderr}${viewer === '' ? '' : `&viewer=${viewer}`}`;
};

/** What a person has to know beside what the program prints. */
const tell = (shown: Shown, frame: Frame, forget: () => void): void => {
  if (frame.type === 'refused') {
    forget();
    // A program that reads no more is no news: its end is.
    if (!['conflict', 'unsupported'].includes(String(frame['code']))) shown.notice(String(frame['message']));
  }
  if (frame.type !== 'desync') return;
  const screen = frame['screen'] as { readonly bytes: number } | null;
  const stream = frame['stream'] === 'stderr' ? 'stderr' : 'stdout';
  shown.skip(stream, { offset: Number(frame['offset']), screenBytes: screen?.bytes ?? 0 });
  if (screen === null) shown.notice('Older output is gone; what follows begins later.');
};

const exitOf = (frame: Frame): SessionEnd => ({
  kind: 'exit',
  exitCode: frame['exitCode'] as number | null,
  signal: frame['signal'] as string | null,
  reason: (frame['limit'] ?? frame['reason']) as string | null,
});

const lost = (): OrreryError =>
  new OrreryError('node_unreachable', 'The connection to the program is lost.', {
    rule: 'The program goes on; connect to it again when the node answers.',
    fix: 'orrery status',
  });
