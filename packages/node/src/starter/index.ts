export { createStarter, type Starter } from './client.ts';
