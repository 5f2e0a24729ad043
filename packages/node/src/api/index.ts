export { createApi } from './door.ts';
export { serveApi, type ApiServer } from './server.ts';
export { createStreams } from './streams.ts';
