export { programLoginHandlers } from './routes.ts';
export { createProgramLogins, type ProgramLogins } from './service.ts';
