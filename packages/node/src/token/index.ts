export { tokenHandlers } from './routes.ts';
export { createTokens, type Tokens } from './service.ts';
