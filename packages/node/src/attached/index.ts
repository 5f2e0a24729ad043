export { ATTACHED_LOOK_MS } from './limits.ts';
export { attachedHandlers } from './routes.ts';
export { createAttached, type Attached } from './service.ts';
