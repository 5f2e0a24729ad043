// The door of usage.

export { createUsage, type Usage } from './usage.ts';
export { usageHandlers } from './routes.ts';
