export { createLogins } from './logins.ts';
export { loginHandlers, tokenHandlers } from './routes.ts';
export { createTokens, type Tokens } from './service.ts';
