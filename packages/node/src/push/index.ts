export { openPushFile } from './keep.ts';
export { pushHandlers } from './routes.ts';
export { createPushSender } from './send.ts';
export { createPush, type Push } from './service.ts';
