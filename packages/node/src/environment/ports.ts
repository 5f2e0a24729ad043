import { createServer } from 'node:net';
import { OrreryError } from '@orrery/protocol/errors';
import type { Random } from '../kernel/random.ts';
import type { Store } from '../store/store.ts';
import { portsOf, type NamedPorts } from './model.ts';
import { listNamed, namedById } from './named-store.ts';
import { recordedEnvironment } from './record.ts';
import { findEnvironment, openEnvironments } from './store.ts';

// Below what kernels hand out by themselves (Linux from 32768), above what servers usually have.
const FIRST_PORT = 20_000;
const LAST_PORT = 29_999;

export type PortAllocator = {
  /**
   * Ports for an environment that is about to be recorded: no other open environment of this node has them, and nobody
   * listens on them now. Asked again for the same environment it answers the same. @throws OrreryError limit_reached
   */
  allocate(environmentId: string, names: readonly string[]): Promise<NamedPorts>;
};

export type PortAllocatorParts = {
  readonly store: Pick<Store, 'read'>;
  readonly random: Random;
  /** Whether nobody has the port now. Default: by listening there for a moment. */
  readonly isFree?: (port: number) => Promise<boolean>;
};

/** Makes the allocator; one for each node. */
export const createPortAllocator = ({ store, random, isFree = isFreePort }: PortAllocatorParts): PortAllocator => {
  // Promised to environments whose rows are not committed yet.
  const promised = new Map<string, NamedPorts>();
  let last: Promise<unknown> = Promise.resolve();

  const takenPorts = async (environmentId: string): Promise<Set<number>> => {
    for (const id of promised.keys()) {
      const named = await namedById(store.read, id);
      // A named environment has its row before its ports.
      if ((await findEnvironment(store.read, id)) !== null || (named !== null && named.ports !== '{}')) promised.delete(id);
    }
    const rows = await openEnvironments(store.read);
    const recorded = rows
      .filter(({ id }) => id !== environmentId)
      .flatMap(({ spec }) => Object.values(recordedEnvironment(spec).spec.ports.named ?? {}));
    const kept = (await listNamed(store.read))
      .filter(({ id }) => id !== environmentId)
      .flatMap((row) => Object.values(portsOf(row)));
    const others = [...promised].flatMap(([id, ports]) => (id === environmentId ? [] : Object.values(ports)));
    return new Set([...recorded, ...kept, ...others]);
  };

  const choose = async (environmentId: string, names: readonly string[]): Promise<NamedPorts> => {
    const before = promised.get(environmentId);
    if (before !== undefined) return before;
    const taken = await takenPorts(environmentId);
    const count = LAST_PORT - FIRST_PORT + 1;
    const start = Buffer.from(random.bytes(4)).readUInt32BE(0) % count;
    const found: [string, number][] = [];
    for (let step = 0; step < count && found.length < names.length; step++) {
      const port = FIRST_PORT + ((start + step) % count);
      if (!taken.has(port) && (await isFree(port))) found.push([names[found.length] ?? '', port]);
    }
    if (found.length < names.length) throw noPorts();
    const ports = Object.fromEntries(found);
    promised.set(environmentId, ports);
    return ports;
  };

  return {
    // One after the other, so that two never find the same port free.
    allocate(environmentId, names) {
      const next = last.then(() => (names.length === 0 ? {} : choose(environmentId, names)));
      last = next.catch(() => undefined);
      return next;
    },
  };
};

const noPorts = (): OrreryError =>
  new OrreryError('limit_reached', 'No port is left for the environment.', {
    rule: `Environments get ports from ${FIRST_PORT} to ${LAST_PORT}, each port one environment.`,
    fix: 'End environments that are no longer needed: orrery task list --state running',
  });

const isFreePort = async (port: number): Promise<boolean> => {
  const hosts = ['127.0.0.1', '0.0.0.0'];
  for (const host of hosts) if (!(await canListen(port, host))) return false;
  return true;
};

const canListen = (port: number, host: string): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
