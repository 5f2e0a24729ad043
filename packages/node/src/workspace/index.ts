export { createWorkspace, type Workspace } from './service.ts';
export type { CheckoutPoint } from './checkpoint.ts';
export { createArchives, type Archives } from './archives.ts';
export { salvageHandlers } from './routes.ts';
export { mirrorPath, type Checkout } from './model.ts';
export { createRepositoryChanges, type RepositoryChanges } from './repository-changes.ts';
