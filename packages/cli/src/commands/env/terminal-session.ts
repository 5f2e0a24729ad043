// A person, or a pipe, at a program in an environment: what comes goes out exactly once, over connections that may break.

import { decodeTerminalBytes, encodeTerminalBytes } from '@orrery/protocol/terminal-frames';
import { OrreryError } from '@orrery/protocol/errors';
import { createClipboardFilter } from '../../clipboard-filter.ts';
import type { Connection } from '../../connect.ts';
import type { CommandContext } from '../command.ts';

/** Ctrl-]: leaves the program running. */
const DETACH = 0x1d;
/** What was written last: sent again over a new connection, where what arrived before is not written twice. */
const INPUT_KEPT = 64;
/** One input frame. */
const INPUT_BYTES = 64 * 1024;
const PATIENCE_MS = 30_000;
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
};

type Said = { readonly offset: number; readonly bytes: Uint8Array };

/** Shows a program and hands on what is typed until it ends or the person leaves. */
export const runSession = async (
  context: CommandContext,
  connection: Connection,
  options: SessionOptions,
): Promise<SessionEnd> => {
  const { world } = context;
  const { tty, mode } = options;
  const over = Promise.withResolvers<SessionEnd>();
  const shown = createShown(context, { tty, onFault: over.reject });
  const { at } = shown;
  let inputEnded = false;
  /** Whether this connection said hello: only then does it take input. */
  let greeted = false;
  let socket: WebSocket | null = null;
  let viewer = '';
  let generation = 0;
  let done = false;

  const send = (text: object): void => {
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(text));
  };
  const sendInput = ({ offset, bytes }: Said): boolean => {
    if (socket?.readyState !== WebSocket.OPEN || viewer === '') return false;
    socket.send(encodeTerminalBytes({ stream: 'stdin', generation, offset, bytes }));
    return true;
  };
  const sendSize = (): void => {
    const { isTTY, columns, rows } = world.stdout;
    if (tty && mode !== 'watch' && isTTY && columns > 0 && rows > 0) send({ type: 'size', columns, rows });
  };
  const typed = createTyped(sendInput);
  const type = (bytes: Uint8Array): void => {
    const leaves = tty && world.stdin.isTTY && bytes.includes(DETACH);
    return leaves ? over.resolve({ kind: 'detached' }) : typed.push(bytes);
  };
  const endInput = (): void => {
    inputEnded = true;
    // Before the greeting nothing of the input was sent: its end goes behind it, then.
    if (greeted) send({ type: 'end-input' });
  };
  const hear = (frame: Frame): void => {
    if (frame.type === 'hello') {
      greeted = true;
      viewer = String(frame['viewer']);
      generation = Number(frame['generation']);
      sendSize();
      if (mode === 'take') send({ type: 'take' });
      typed.sendAgain();
      if (inputEnded) send({ type: 'end-input' });
    } else if (frame.type === 'exit') over.resolve(exitOf(frame));
    else tell(context, at, frame);
  };

  const connect = async (since: number): Promise<void> => {
    const next = await connection.webSocket(pathOf(options, at, viewer), 'orrery-terminal.v1');
    if (done) return next.close();
    let met = since;
    listenTo(next, {
      onOpen: () => {
        met = world.now();
        socket = next;
      },
      onText: hear,
      onBytes: shown.show,
      onClose: () => {
        socket = null;
        greeted = false;
        if (done) return;
        if (world.now() - met > PATIENCE_MS) return over.reject(lost());
        const again = world.sleep(AGAIN_MS).then(() => connect(met));
        again.catch(over.reject);
      },
    });
  };

  const releases = [
    world.onResize(sendSize),
    // A terminal in raw mode sends Ctrl-C as a byte; without one it is a signal for the program.
    world.onStop(() => (mode === 'watch' ? over.resolve({ kind: 'detached' }) : send({ type: 'terminate' }))),
    ...(mode === 'watch' ? [] : [world.stdin.follow({ onBytes: type, onEnd: endInput })]),
  ];
  await connect(world.now());
  const end = await over.promise.finally(() => {
    done = true;
    for (const release of releases) release();
    socket?.close();
  });
  await shown.flushed();
  return end;
};

/** Input in frames with their offsets; the last ones are kept for a connection that breaks. */
const createTyped = (send: (said: Said) => boolean) => {
  const kept: Said[] = [];
  let written = 0;
  return {
    push: (bytes: Uint8Array): void => {
      for (let from = 0; from < bytes.length; from += INPUT_BYTES) {
        const said = { offset: written, bytes: bytes.slice(from, from + INPUT_BYTES) };
        written += said.bytes.length;
        kept.push(said);
        // What was not sent yet is kept in any case.
        if (send(said) && kept.length > INPUT_KEPT) kept.shift();
      }
    },
    sendAgain: (): void => kept.forEach((said) => void send(said)),
  };
};

type Frame = { readonly type?: string } & Readonly<Record<string, unknown>>;

type Listener = {
  readonly onOpen: () => void;
  readonly onText: (frame: Frame) => void;
  readonly onBytes: (stream: 'stdout' | 'stderr', offset: number, bytes: Uint8Array) => void;
  readonly onClose: () => void;
};

const listenTo = (socket: WebSocket, { onOpen, onText, onBytes, onClose }: Listener): void => {
  socket.binaryType = 'arraybuffer';
  socket.addEventListener('open', onOpen);
  socket.addEventListener('message', ({ data }) => {
    if (typeof data === 'string') return onText(JSON.parse(data) as Frame);
    const frame = decodeTerminalBytes(new Uint8Array(data as ArrayBuffer));
    if (frame !== null && frame.stream !== 'stdin') onBytes(frame.stream, frame.offset, frame.bytes);
  });
  socket.addEventListener('close', onClose);
  socket.addEventListener('error', () => undefined);
};

type Offsets = { stdout: number; stderr: number };

const pathOf = ({ environment, terminal }: SessionOptions, at: Offsets, viewer: string): string => {
  const path = `/environments/${encodeURIComponent(environment)}/terminals/${encodeURIComponent(terminal)}`;
  return `${path}?stdout=${at.stdout}&stderr=${at.stderr}${viewer === '' ? '' : `&viewer=${viewer}`}`;
};

/** What a person has to know beside what the program prints. */
const tell = (context: CommandContext, at: Offsets, frame: Frame): void => {
  if (frame.type === 'refused') context.warn(String(frame['message']));
  if (frame.type !== 'desync') return;
  at[frame['stream'] === 'stderr' ? 'stderr' : 'stdout'] = Number(frame['offset']);
  context.warn('Older output is gone; what follows begins later.');
};

const exitOf = (frame: Frame): SessionEnd => ({
  kind: 'exit',
  exitCode: frame['exitCode'] as number | null,
  signal: frame['signal'] as string | null,
  reason: (frame['limit'] ?? frame['reason']) as string | null,
});

/** What a program prints, each byte once, as fast as it is taken. */
const createShown = (
  { world }: CommandContext,
  { tty, onFault }: { readonly tty: boolean; readonly onFault: (thrown: unknown) => void },
) => {
  const clipboard = { stdout: createClipboardFilter(), stderr: createClipboardFilter() };
  const at = { stdout: 0, stderr: 0 };
  let output: Promise<void> = Promise.resolve();
  return {
    at,
    flushed: () => output,
    show: (stream: 'stdout' | 'stderr', offset: number, bytes: Uint8Array): void => {
      // What came before the connection broke may come again.
      const fresh = offset < at[stream] ? bytes.subarray(at[stream] - offset) : bytes;
      at[stream] = Math.max(at[stream], offset + bytes.length);
      if (fresh.length === 0) return;
      const wanted = tty && world.stdout.isTTY ? clipboard[stream].push(fresh) : fresh;
      output = output.then(() => world[stream].bytes(wanted)).catch(onFault);
    },
  };
};

const lost = (): OrreryError =>
  new OrreryError('node_unreachable', 'The connection to the program is lost.', {
    rule: 'The program goes on; connect to it again when the node answers.',
    fix: 'orrery status',
  });
