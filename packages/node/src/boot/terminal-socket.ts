// Terminals over WebSocket: control frames as JSON text, output and input as binary frames with their offsets.

import { decodeTerminalBytes, encodeTerminalBytes, terminalProtocol } from '@orrery/protocol/terminal-frames';
import { upgradePaths, viewerFrame, type TerminalFrame } from '@orrery/protocol';
import { OrreryError, toOrreryError } from '@orrery/protocol/errors';
import { WebSocketServer, type RawData, type WebSocket } from 'ws';
import type { UpgradeRoute } from '../api/index.ts';
import type { Terminals, ViewerDoor } from '../environment/index.ts';
import type { Ids } from '../kernel/ids.ts';

/** One frame of a viewer: a paste, in parts. */
const FRAME_BYTES = 1024 * 1024;
/** One control frame. */
const CONTROL_BYTES = 16 * 1024;
/** Output that waits for a viewer before its program's output waits for it. */
const WAITING_BYTES = 1024 * 1024;
/** Input that waits for a program, of one viewer: of more nothing is read until some is written. */
const INPUT_WAITING_BYTES = 4 * 1024 * 1024;
/** Output on its way to a viewer that says what it has seen. */
const WINDOW_BYTES = 1024 * 1024;
/** How long a viewer may take nothing. */
const STALL_MS = 60_000;
const PING_MS = 30_000;
/** How long one that is cut off has to take what was sent before. */
const CUT_MS = 2_000;

/** A terminal, followed and written to. Query: `stdout`, `stderr` (offsets that the viewer has), `viewer` (when it comes again). */
export const terminalRoute = ({ terminals, ids }: { readonly terminals: Terminals; readonly ids: Ids }): UpgradeRoute => {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: FRAME_BYTES,
    handleProtocols: (offered) => (offered.has(terminalProtocol) ? terminalProtocol : false),
  });
  return {
    path: upgradePaths.terminal,
    protocol: 'websocket',
    scope: 'operator',
    open: async ({ params, query, request, socket, head }) => {
      const terminal = await terminals.find(params['id'] ?? '', params['terminal'] ?? '');
      const start = {
        viewer: viewerOf(query.get('viewer')) ?? ids('run'),
        stdout: offsetOf(query.get('stdout')),
        stderr: offsetOf(query.get('stderr')),
        size: null,
      };
      server.handleUpgrade(request, socket, head, (connection) => {
        const door = query.has('window') ? windowedDoor(connection, terminal.generation, start) : null;
        const viewer = terminal.attach(door ?? doorOf(connection, terminal.generation), start);
        const input = createInput(connection, { terminal, viewer });
        const refuse = (thrown: unknown): void => {
          const { code, message } = toOrreryError(thrown);
          control(connection, { type: 'refused', code, message });
        };
        const ping = setInterval(() => connection.ping(), PING_MS);
        connection.on('close', () => {
          clearInterval(ping);
          door?.close();
          viewer.leave();
        });
        connection.on('error', () => connection.terminate());
        connection.on('message', (said, binary) => {
          const bytes = bytesOf(said);
          if (binary) return void input(bytes).catch(refuse);
          takeControl(bytes, { terminal, viewer, seen: door?.seen }).catch(refuse);
        });
      });
    },
  };
};

type Taking = {
  readonly terminal: Awaited<ReturnType<Terminals['find']>>;
  readonly viewer: ReturnType<Taking['terminal']['attach']>;
};

/** Writes input and says how far it was written. While much of it waits for the program, the viewer's connection waits too. */
const createInput = (connection: WebSocket, { terminal, viewer }: Taking) => {
  let waiting = 0;
  const write = async (bytes: Uint8Array): Promise<void> => {
    const frame = decodeTerminalBytes(bytes);
    if (frame === null || frame.stream !== 'stdin') throw badFrame();
    if (frame.generation !== terminal.generation)
      throw new OrreryError('stale', 'The input is for another program.', {
        rule: 'Input names the generation of its terminal.',
      });
    await viewer.input(frame.offset, frame.bytes);
    control(connection, { type: 'took', offset: frame.offset + frame.bytes.length });
  };
  return (bytes: Uint8Array): Promise<void> => {
    waiting += bytes.length;
    if (waiting > INPUT_WAITING_BYTES) connection.pause();
    return write(bytes).finally(() => {
      waiting -= bytes.length;
      if (waiting < INPUT_WAITING_BYTES / 2) connection.resume();
    });
  };
};

type Steering = Taking & { readonly seen: ((at: Offsets) => void) | undefined };

const takeControl = async (bytes: Uint8Array, { terminal, viewer, seen }: Steering): Promise<void> => {
  if (bytes.length > CONTROL_BYTES) throw badFrame();
  const parsed = viewerFrame.safeParse(json(bytes));
  if (!parsed.success) throw badFrame();
  const frame = parsed.data;
  switch (frame.type) {
    case 'size':
      return viewer.resize({ columns: frame.columns, rows: frame.rows, visible: frame.visible });
    case 'take':
      return viewer.take();
    case 'seen':
      return seen?.(frame);
    case 'end-input':
      return viewer.endInput();
    case 'terminate':
      return terminal.handle.terminate();
    case 'kill':
      return terminal.handle.kill();
  }
};

const control = (connection: WebSocket, frame: TerminalFrame): void => {
  if (connection.readyState === connection.OPEN) connection.send(JSON.stringify(frame));
};

/** Output is sent as fast as the viewer takes it; one that takes nothing is cut off with the offset it would go on from. */
const doorOf = (connection: WebSocket, generation: number): ViewerDoor => ({
  control: (frame) => control(connection, frame),
  bytes: async (stream, offset, bytes) => {
    if (connection.readyState !== connection.OPEN) throw new Error('the viewer is gone');
    const sent = Promise.withResolvers<void>();
    connection.send(encodeTerminalBytes({ stream, generation, offset, bytes }), (fault) =>
      fault === undefined || fault === null ? sent.resolve() : sent.reject(fault),
    );
    if (connection.bufferedAmount < WAITING_BYTES) return void sent.promise.catch(() => undefined);
    const stalled = setTimeout(() => cutOff(connection, `${stream} ${offset}`), STALL_MS);
    await sent.promise.finally(() => clearTimeout(stalled));
  },
  cut: (stream, offset) => cutOff(connection, `${stream} ${offset}`),
});

/** A viewer that is too slow is told where it would go on, if it still listens, and its connection ends. */
const cutOff = (connection: WebSocket, at: string): void => {
  connection.close(4008, `slow: ${at}`);
  // What waits to be sent before that word may never be taken.
  setTimeout(() => connection.terminate(), CUT_MS).unref();
};

type Offsets = { readonly stdout: number; readonly stderr: number };

/** The same for a viewer that says what it has seen: no more than a window is on its way, so that neither side has to hold it. */
const windowedDoor = (
  connection: WebSocket,
  generation: number,
  start: Offsets,
): ViewerDoor & { seen(at: Offsets): void; close(): void } => {
  const door = doorOf(connection, generation);
  let seen = start;
  let closed = false;
  let wake = Promise.withResolvers<void>();
  const signal = (): void => {
    wake.resolve();
    wake = Promise.withResolvers<void>();
  };
  return {
    ...door,
    bytes: async (stream, offset, bytes) => {
      await door.bytes(stream, offset, bytes);
      if (stream === 'screen') return;
      while (!closed && offset + bytes.length - seen[stream] > WINDOW_BYTES) await wake.promise;
    },
    seen: ({ stdout, stderr }) => {
      seen = { stdout, stderr };
      signal();
    },
    close: () => {
      closed = true;
      signal();
    },
  };
};

const bytesOf = (said: RawData): Uint8Array => (Array.isArray(said) ? Buffer.concat(said) : new Uint8Array(said as Buffer));

const json = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    return null;
  }
};

const viewerOf = (text: string | null): string | null => (text !== null && /^[A-Za-z0-9_-]{1,64}$/.test(text) ? text : null);

const offsetOf = (text: string | null): number => (text !== null && /^\d{1,15}$/.test(text) ? Number(text) : 0);

const badFrame = (): OrreryError =>
  new OrreryError('invalid_input', 'The frame is not understood.', {
    rule: `Frames are as in ${terminalProtocol}: control as JSON of at most ${CONTROL_BYTES} bytes, input with generation and offset.`,
  });
