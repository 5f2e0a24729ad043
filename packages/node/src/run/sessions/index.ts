export { dropRefs } from './checkpoints.ts';
export { createSessionsConductor, type SessionsConductor } from './conductor.ts';
