export {
  claimNext,
  dequeue,
  enqueue,
  findEntry,
  isPaused,
  positionOf,
  renewLeases,
  setPaused,
  takeOver,
  type Claim,
} from './queue.ts';
export { queueHandlers } from './routes.ts';
