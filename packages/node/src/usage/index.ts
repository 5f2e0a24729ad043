// The door of usage.

export { createUsage, type Usage } from './usage.ts';
export { usageHandlers } from './routes.ts';
export {
  dueLimits,
  holdForProbe,
  limitOf,
  limitsNow,
  limitText,
  markLifted,
  noteTurn,
  type AccountLimit,
  type DueLimit,
} from './account-limits.ts';
export { USAGE_LIMIT_ATTEMPTS } from './limits.ts';
