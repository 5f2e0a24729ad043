export { tokenHandlers } from './routes.ts';
export { createTokens, type TokenParts, type Tokens } from './service.ts';
