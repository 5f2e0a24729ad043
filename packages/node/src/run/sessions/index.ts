export { createSessionsConductor, type SessionsConductor } from './conductor.ts';
