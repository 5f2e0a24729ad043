export { createWorkspace, type Workspace } from './service.ts';
export { salvageHandlers } from './routes.ts';
export { mirrorPath, type Checkout } from './model.ts';
