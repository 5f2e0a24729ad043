import type { Duplex } from 'node:stream';
import { OrreryError } from '@orrery/protocol/errors';
import type { OpenPlaces } from './open-places.ts';

/** Connections into one environment at once: a browser opens six for each page, a loop must not take the node. */
const FORWARDS_PER_ENVIRONMENT = 256;

export type Forwarding = {
  /** A connection to a port of the environment's own programs. @throws OrreryError not_found, conflict, invalid_input, limit_reached */
  open(reference: string, port: number): Promise<Duplex>;
};

/** Makes it. */
export const createForwarding = (places: OpenPlaces): Forwarding => {
  const open = new Map<string, number>();
  const count = (id: string, step: 1 | -1): void => {
    const next = (open.get(id) ?? 0) + step;
    if (next === 0) open.delete(id);
    else open.set(id, next);
  };
  return {
    async open(reference, port) {
      if (!Number.isInteger(port) || port < 1 || port > 65_535) throw noPort();
      const { environment, environmentId } = await places.find(reference);
      if ((open.get(environmentId) ?? 0) >= FORWARDS_PER_ENVIRONMENT) throw tooMany(environmentId);
      count(environmentId, 1);
      try {
        const connection = await environment.forward(port);
        connection.once('close', () => count(environmentId, -1));
        return connection;
      } catch (thrown) {
        count(environmentId, -1);
        throw thrown;
      }
    },
  };
};

const noPort = (): OrreryError =>
  new OrreryError('invalid_input', 'The port is none.', { rule: 'Ports are numbers from 1 to 65535.' });

const tooMany = (environmentId: string): OrreryError =>
  new OrreryError('limit_reached', `The environment ${environmentId} has ${FORWARDS_PER_ENVIRONMENT} connections open.`, {
    rule: 'Connections into one environment are bounded.',
    fix: 'Close some, then try again.',
  });
