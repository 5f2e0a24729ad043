export { attachedHandlers } from './routes.ts';
export { createAttached, type Attached } from './service.ts';
