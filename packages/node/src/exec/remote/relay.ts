// The broker's way into a place: connections of keepers' fronts there come out here, at the node's own socket, by the
// place's own connection where it forwards sockets, else by a relay over a command's streams. Nothing
// listens for it on this machine, and in the place only a socket of the environment.
import { OrreryError } from '@orrery/protocol/errors';
import { startInPlace, unreachable } from './command.ts';
import { RELAY_PING_MS, RELAY_SILENCE_MS } from './limits.ts';
import { checkThere, createPauses } from './patience.ts';
import type { Line } from './patience.ts';
import type { PlaceProcess } from './place.ts';
import { openRelayConnection } from './relay-connection.ts';
import type { RelayConnection } from './relay-connection.ts';
import { createRelayReader, encodeRelayFrame, RELAY } from './relay-frames.ts';
import type { RelayFrame } from './relay-frames.ts';

/** A way in that is kept open. */
export type BrokerRelay = { stop(): void };

/** Serves one relay until its connection ends. `onReady` when connections can come. */
const serveOnce = async (process: PlaceProcess, target: string, onReady: () => void): Promise<void> => {
  const { stdio } = process;
  const reader = createRelayReader();
  const connections = new Map<number, RelayConnection>();
  const over = Promise.withResolvers<void>();
  const send = (frame: Buffer): void => {
    if (!stdio.destroyed && stdio.writable) stdio.write(frame);
  };
  const take = ({ type, id, payload }: RelayFrame): void => {
    if (type === RELAY.ready) onReady();
    else if (type === RELAY.ping) send(encodeRelayFrame(RELAY.pong, 0, payload));
    else if (type === RELAY.open)
      connections.set(id, openRelayConnection({ id, target, send, over: () => connections.delete(id) }));
    // Copied: what comes next is read into other memory, but this may wait for the broker.
    else if (type === RELAY.data) connections.get(id)?.data(Buffer.from(payload));
    else if (type === RELAY.end) connections.get(id)?.end();
    else if (type === RELAY.reset) connections.get(id)?.reset();
    else if (type === RELAY.window) connections.get(id)?.taken(payload.readUInt32LE(0));
  };
  stdio.on('data', (bytes: Buffer) => {
    try {
      for (const frame of reader.push(bytes)) take(frame);
    } catch {
      stdio.destroy();
    }
  });
  stdio.on('error', () => undefined);
  stdio.on('close', over.resolve);
  stdio.on('end', over.resolve);
  void process.ended.then(() => over.resolve());
  const ping = setInterval(() => send(encodeRelayFrame(RELAY.ping, 0)), RELAY_PING_MS);
  ping.unref();
  try {
    await over.promise;
  } finally {
    clearInterval(ping);
    process.close();
    for (const connection of connections.values()) connection.reset();
  }
};

type Current = { close(): void };

/** One way in, until it ends. `begun` is told of it at once, so that it can be closed. */
const serveWay = async (line: Line, target: string, told: { begun(way: Current): void; ready(): void }): Promise<void> => {
  const { place, layout } = line;
  const forwarded = await place.forwardSocket?.(layout.brokerSocket, target);
  if (forwarded !== undefined && forwarded !== null) {
    told.begun(forwarded);
    told.ready();
    await forwarded.over;
    return;
  }
  const argv = [layout.keeper, 'relay', '--listen', layout.brokerSocket, '--silence-ms', String(RELAY_SILENCE_MS)];
  const process = await startInPlace(place, { argv, stdin: 'open', timeoutMs: null });
  told.begun(process);
  await serveOnce(process, target, told.ready);
};

/**
 * Keeps the way from the broker socket of a place to `target` open until it is stopped or the place is gone. While it is
 * broken, fronts hold their new connections; those that were open end, and programs make new ones.
 */
export const serveBroker = (line: Line, target: string): BrokerRelay => {
  let stopped = false;
  let current: Current | null = null;
  const keep = async (): Promise<void> => {
    let pauses = createPauses(line);
    while (!stopped) {
      try {
        await serveWay(line, target, {
          begun: (way) => {
            current = way;
            if (stopped) way.close();
          },
          ready: () => (pauses = createPauses(line)),
        });
        if (!stopped) await checkThere(line);
        if (!stopped) await pauses.next(unreachable('the way to the broker broke'));
      } catch (thrown) {
        if (stopped || isFinal(thrown)) return;
        await checkThere(line);
        await pauses.next(thrown);
      }
    }
  };
  // A place that is gone or out of reach for too long needs no broker; what runs there is told so by its own view.
  keep().catch(() => undefined);
  return {
    stop: () => {
      stopped = true;
      current?.close();
    },
  };
};

const isFinal = (thrown: unknown): boolean =>
  thrown instanceof OrreryError && (thrown.code === 'keeper_lost' || thrown.code === 'stale');
