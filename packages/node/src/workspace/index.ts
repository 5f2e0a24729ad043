export { createWorkspace, type Workspace, type WorkspaceParts } from './service.ts';
export { salvageHandlers, type SalvageParts } from './routes.ts';
export { mirrorPath, taskBranch, type Checkout, type Collected, type Reclaimed, type Saved } from './model.ts';
export type { Claim } from './slot.ts';
export type { Recovered } from './recover.ts';
export type { ReclaimedSalvage } from './retention.ts';
