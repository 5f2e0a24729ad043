// The broker, with what it is told of the configuration.

import { join } from 'node:path';
import { createBroker, PROVIDER_PATIENCE, createProviders, type Broker, type Providers } from '../broker/index.ts';
import type { Config } from '../config/config.ts';
import type { NodePaths } from '../config/paths.ts';
import type { Secrets } from '../config/secrets.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import type { Random } from '../kernel/random.ts';
import type { ProgramLogins } from '../program-login/index.ts';
import type { Store } from '../store/store.ts';
import { mcpServer } from './mcp.ts';
import { loadPrices } from './prices.ts';
import { scriptedProvider, type Scripted } from './scripted.ts';

type BrokerGround = {
  readonly paths: NodePaths;
  readonly store: Store;
  readonly log: Log;
  readonly config: Config;
  readonly secrets: Secrets;
};

/** The providers as the configuration says them now, and the bundled model. @throws OrreryError config_invalid */
export const openProviders = (
  { config, secrets }: Pick<BrokerGround, 'config' | 'secrets'>,
  scripted: Pick<Scripted, 'socket'>,
): (() => Providers) => {
  const providers = (): Providers => {
    const own = Object.entries(config.current().providers).map(
      ([id, { apiKey, ...rest }]) => [id, { ...rest, ...(apiKey === undefined ? {} : { key: apiKey }) }] as const,
    );
    return createProviders(
      { ...Object.fromEntries(own), [scriptedProvider]: { socket: scripted.socket, keyStyle: 'none' } },
      secrets.read,
    );
  };
  providers();
  return providers;
};

type Given = {
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly providers: () => Providers;
  readonly payment: ProgramLogins['payment'];
};

/** Starts it. @throws OrreryError node_already_running, config_invalid */
export const openBroker = async ({ paths, store, log, config, secrets }: BrokerGround, given: Given): Promise<Broker> => {
  const prices = await loadPrices(config.current().prices, paths.config);
  return createBroker({
    ...given,
    socketPath: join(paths.data, 'broker.sock'),
    store,
    log,
    mcpServer: mcpServer({ config, secrets }),
    prices: () => prices,
    egressDeny: () => config.current().egress.deny,
    providerQuietMs: () => Math.ceil(config.current().gateway.quietMs * PROVIDER_PATIENCE),
  });
};
