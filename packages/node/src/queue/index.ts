export {
  claimable,
  claimNext,
  letPast,
  dequeue,
  enqueue,
  findEntry,
  isPaused,
  positionOf,
  queuedPrograms,
  renewLeases,
  setPaused,
  takeOver,
  type Claim,
} from './queue.ts';
export { breakWaits, dropWaits, nextRipe, releaseWaits, ripen, waitsOf, type Wait } from './waits.ts';
export { queueHandlers } from './routes.ts';
