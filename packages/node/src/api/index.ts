export { createAdmission } from './admit.ts';
export { cookieName } from './browser.ts';
export { createApi } from './door.ts';
export { readPages } from './pages.ts';
export { serveApi, type ApiServer } from './server.ts';
export { createStreams } from './streams.ts';
export { createUpgrades, type UpgradeRoute } from './upgrades.ts';
