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
export { breakWaits, dropWaits, nextRipe, releaseWaits, ripen, waitsOf, type Wait } from './waits.ts';
export { queueHandlers } from './routes.ts';
