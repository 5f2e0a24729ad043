export { createAdmission } from './admit.ts';
export { createApi } from './door.ts';
export { serveApi, type ApiServer } from './server.ts';
export { createStreams } from './streams.ts';
export { createUpgrades, type UpgradeRoute } from './upgrades.ts';
