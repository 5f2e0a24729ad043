import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { pipeline, type Duplex } from 'node:stream';
import { OrreryError, toOrreryError } from '@orrery/protocol/errors';
import { placeIdOf } from '../../names.ts';
import type { Command, CommandContext } from '../command.ts';

type Ports = { readonly inside: number; readonly local: number };

const portsOf = (text: string): Ports => {
  const [, inside = '', local] = /^(\d{1,5})(?::(\d{1,5}))?$/.exec(text) ?? [];
  const ports = { inside: Number(inside), local: Number(local ?? inside) };
  if (inside !== '' && ports.inside >= 1 && ports.inside <= 65_535 && ports.local <= 65_535) return ports;
  throw new OrreryError('invalid_input', 'The ports are not understood.', {
    rule: 'Say PORT, or PORT:LOCAL with the port of this machine behind it (0: any that is free).',
    fix: 'orrery env forward ENV 3000:8080',
  });
};

const listen = (server: Server, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', (thrown: NodeJS.ErrnoException) => {
      const taken = thrown.code === 'EADDRINUSE';
      const message = taken ? `Port ${port} of this machine is taken.` : `Port ${port} of this machine cannot be used.`;
      reject(
        new OrreryError('conflict', message, {
          rule: 'The port behind the colon is one of this machine.',
          fix: 'Take any that is free: orrery env forward ENV PORT:0',
          cause: thrown,
        }),
      );
    });
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => resolve((server.address() as AddressInfo).port));
  });

/** Joins a connection of this machine with one to the environment; what cannot be opened is said once for each reason. */
const serve = (context: CommandContext, open: () => Promise<Duplex>): ((client: Socket) => void) => {
  const said = new Set<string>();
  return (client) => {
    client.on('error', () => client.destroy());
    open().then(
      (inside) => {
        const ended = (fault: Error | null | undefined): void => {
          if (fault === null || fault === undefined) return;
          client.destroy();
          inside.destroy();
        };
        pipeline(client, inside, ended);
        pipeline(inside, client, ended);
      },
      (thrown: unknown) => {
        const { message } = toOrreryError(thrown);
        if (!said.has(message)) context.warn(message);
        said.add(message);
        client.destroy();
      },
    );
  };
};

/** Whether something listens there yet; what will not change by waiting is thrown. */
const checkPlace = async (context: CommandContext, inside: number, open: () => Promise<Duplex>): Promise<void> => {
  try {
    (await open()).destroy();
  } catch (thrown) {
    const error = toOrreryError(thrown);
    if (error.details?.['port'] !== inside) throw error;
    context.warn(`${error.message} A connection is tried again each time.`);
  }
};

/** `orrery env forward`: listens on loopback until it is stopped. */
export const envForward: Command = async (context) => {
  const { inside, local } = portsOf(context.input.argument('port') ?? '');
  const connection = await context.connect();
  const id = await placeIdOf(connection, context.input.argument('environment') ?? '');
  const path = `/environments/${encodeURIComponent(id)}/ports/${inside}`;
  const open = (): Promise<Duplex> => connection.upgrade(path, 'orrery-port');
  await checkPlace(context, inside, open);
  const server = createServer({ allowHalfOpen: true }, serve(context, open));
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const port = await listen(server, local);
  context.data({
    text: `${context.screen.good('✓')} 127.0.0.1:${port} here is port ${inside} of ${id}  ${context.screen.dim('Ctrl-C ends it.')}`,
    json: { environment: id, port: inside, local: port },
  });
  await new Promise<void>((resolve) => context.world.onStop(() => resolve()));
  server.close();
  for (const socket of sockets) socket.destroy();
  return { result: { environment: id, port: inside, local: port } };
};
