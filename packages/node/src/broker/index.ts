// The door of the broker.

export { createBroker, type Broker, type BrokerParts } from './broker.ts';
export { createProviders, providerSettings, type Provider, type ProviderSettings, type Providers } from './providers.ts';
export { createPriceTable, parsePrices, pricesFile, type PriceTable } from './prices.ts';
export { parseEgressRule } from './egress-rules.ts';
export type { Grants, LimitReport, LimitWindow, Price } from './model.ts';
