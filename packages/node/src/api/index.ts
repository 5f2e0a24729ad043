export { createApi, type ApiParts } from './door.ts';
export { isLoopback } from './guard.ts';
export { openApiDocument } from './openapi.ts';
export { serveApi, type ApiServer, type ServeParts } from './server.ts';
export { createStreams, type StreamParts, type Streams } from './streams.ts';
