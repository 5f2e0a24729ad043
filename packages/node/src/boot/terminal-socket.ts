// Terminals over WebSocket: control frames as JSON text, output and input as binary frames with their offsets.

import { decodeTerminalBytes, encodeTerminalBytes } from '@orrery/protocol/terminal-frames';
import { terminalProtocol, upgradePaths, viewerFrame, type TerminalFrame } from '@orrery/protocol';
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
/** How long a viewer may take nothing. */
const STALL_MS = 60_000;
const PING_MS = 30_000;

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
        const viewer = terminal.attach(doorOf(connection, terminal.generation), start);
        const refuse = (thrown: unknown): void => {
          const { code, message } = toOrreryError(thrown);
          control(connection, { type: 'refused', code, message });
        };
        const ping = setInterval(() => connection.ping(), PING_MS);
        connection.on('close', () => {
          clearInterval(ping);
          viewer.leave();
        });
        connection.on('error', () => connection.terminate());
        connection.on('message', (said, binary) => {
          const bytes = bytesOf(said);
          if (binary) return void takeInput(bytes, { terminal, viewer }).catch(refuse);
          takeControl(bytes, { terminal, viewer }).catch(refuse);
        });
      });
    },
  };
};

type Taking = {
  readonly terminal: Awaited<ReturnType<Terminals['find']>>;
  readonly viewer: ReturnType<Taking['terminal']['attach']>;
};

const takeInput = async (bytes: Uint8Array, { terminal, viewer }: Taking): Promise<void> => {
  const frame = decodeTerminalBytes(bytes);
  if (frame === null || frame.stream !== 'stdin') throw badFrame();
  if (frame.generation !== terminal.generation)
    throw new OrreryError('stale', 'The input is for another program.', { rule: 'Input names the generation of its terminal.' });
  await viewer.input(frame.offset, frame.bytes);
};

const takeControl = async (bytes: Uint8Array, { terminal, viewer }: Taking): Promise<void> => {
  if (bytes.length > CONTROL_BYTES) throw badFrame();
  const parsed = viewerFrame.safeParse(json(bytes));
  if (!parsed.success) throw badFrame();
  const frame = parsed.data;
  switch (frame.type) {
    case 'size':
      return viewer.resize({ columns: frame.columns, rows: frame.rows, visible: frame.visible });
    case 'take':
      return viewer.take();
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
    const stalled = setTimeout(() => {
      connection.close(4008, `slow: ${stream} ${offset}`);
      connection.terminate();
    }, STALL_MS);
    await sent.promise.finally(() => clearTimeout(stalled));
  },
});

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
