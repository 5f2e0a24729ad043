// A viewer of a terminal, frame by frame.
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { decodeTerminalBytes, encodeTerminalBytes } from '@orrery/protocol/terminal-frames';
import { onTestFinished } from 'vitest';
import type { Life } from './life.ts';
import type { Place } from './place.ts';
import { waitFor } from './wait.ts';

export type Frame = { readonly type: string } & Readonly<Record<string, unknown>>;

/** What a viewer was shown. */
export type Viewer = {
  /** Control frames, in order; binary frames stand between them as `{ type: 'bytes', stream }`, once for each run of them. */
  readonly frames: readonly Frame[];
  /** Output, with a hole where some is missing: it must have none. */
  text(): string;
  /** The screen that was drawn for it. */
  drawn(): string;
  /** Where its output begins and ends. */
  readonly from: number | null;
  readonly until: number;
  readonly closed: { readonly code: number; readonly reason: string } | null;
  send(frame: object): void;
  type(text: string): void;
  seen(what: RegExp): Promise<void>;
  heard(what: (frame: Frame) => boolean): Promise<Frame>;
  leave(): void;
};

type At = { readonly environment: string; readonly terminal: string; readonly query?: string };

const pathOf = ({ environment, terminal, query = '' }: At): string =>
  `/api/v1/environments/${environment}/terminals/${terminal}?${query}`;
const tokenOf = (place: Place): string => readFileSync(join(place.data, 'owner.token'), 'utf8').trim();

/** Connects one; it leaves with the test. */
export const viewerOf = (place: Place, life: Life, at: At): Viewer => {
  const headers = { authorization: `Bearer ${tokenOf(place)}` };
  const socket = new WebSocket(`${life.url.replace('http', 'ws')}${pathOf(at)}`, {
    protocols: ['orrery-terminal.v1'],
    headers,
  } as never);
  socket.binaryType = 'arraybuffer';
  const frames: Frame[] = [];
  const output: Buffer[] = [];
  const screen: Buffer[] = [];
  let [from, until, written]: [number | null, number, number] = [null, 0, 0];
  let generation = 0;
  let closed: Viewer['closed'] = null;
  const take = (data: Uint8Array): void => {
    const frame = decodeTerminalBytes(data)!;
    const last = frames.at(-1);
    if (last?.type !== 'bytes' || last['stream'] !== frame.stream) frames.push({ type: 'bytes', stream: frame.stream });
    if (frame.stream === 'screen') return void screen.push(Buffer.from(frame.bytes));
    if (from !== null && frame.offset !== until) output.push(Buffer.from(`<hole ${until}-${frame.offset}>`));
    from ??= frame.offset;
    until = frame.offset + frame.bytes.length;
    output.push(Buffer.from(frame.bytes));
  };
  socket.addEventListener('message', ({ data }) => {
    if (typeof data !== 'string') return take(new Uint8Array(data as ArrayBuffer));
    const frame = JSON.parse(data) as Frame;
    if (frame.type === 'hello') generation = Number(frame['generation']);
    frames.push(frame);
  });
  socket.addEventListener('close', ({ code, reason }) => (closed = { code, reason }));
  socket.addEventListener('error', () => undefined);
  onTestFinished(() => socket.close());
  const text = (): string => Buffer.concat(output).toString('utf8');
  return {
    frames,
    text,
    drawn: () => Buffer.concat(screen).toString('utf8'),
    get from() {
      return from;
    },
    get until() {
      return until;
    },
    get closed() {
      return closed;
    },
    send: (frame) => socket.send(JSON.stringify(frame)),
    type: (said) => {
      const bytes = Buffer.from(said);
      socket.send(encodeTerminalBytes({ stream: 'stdin', generation, offset: written, bytes }));
      written += bytes.length;
    },
    seen: async (what) => void (await waitFor(`${what} in the output`, () => (what.test(text()) ? true : null), 240_000)),
    heard: (what) => waitFor('a control frame', () => frames.find(what) ?? null, 240_000),
    leave: () => socket.close(),
  };
};

/** The same once it is let in: after a restart a node may have to look for the program first. */
export const viewerWhenThere = (place: Place, life: Life, at: At): Promise<Viewer> =>
  waitFor(
    'a viewer that is let in',
    async () => {
      const viewer = viewerOf(place, life, at);
      const answered = (): true | null => (viewer.frames.length > 0 || viewer.closed !== null ? true : null);
      await waitFor('an answer to a viewer', answered, 120_000);
      return viewer.frames.length > 0 ? viewer : null;
    },
    240_000,
  );

/** A viewer that connects and then takes nothing. */
export const stalledViewer = async (place: Place, life: Life, at: At): Promise<Socket> => {
  const { hostname, port } = new URL(life.url);
  const socket = connect({ host: hostname, port: Number(port) });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  const lines = [
    `GET ${pathOf(at)} HTTP/1.1`,
    `Host: ${hostname}:${port}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    'Sec-WebSocket-Protocol: orrery-terminal.v1',
    `Authorization: Bearer ${tokenOf(place)}`,
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  await new Promise<void>((resolve) => socket.once('data', () => resolve()));
  socket.pause();
  return socket;
};
