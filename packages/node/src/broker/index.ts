// The door of the broker.

export { createBroker, type Broker } from './broker.ts';
export { egressHandlers } from './routes.ts';
export { createProviders, type Provider, type Providers } from './providers.ts';
export { createPriceTable, parsePrices, type PriceTable } from './prices.ts';
export type { Price } from './model.ts';
export { PROVIDER_PATIENCE } from './limits.ts';
