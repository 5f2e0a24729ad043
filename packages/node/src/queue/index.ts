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
  type ClaimRules,
  type QueueEntry,
} from './queue.ts';
export { queueHandlers } from './routes.ts';
