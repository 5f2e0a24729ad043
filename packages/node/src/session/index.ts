export { apart } from './details.ts';
export type { KeptAgent, SessionConductor } from './doors.ts';
export { isActive, keptAgent, type SessionRow, type SessionRunRow, type TurnRow } from './model.ts';
export { createLiveTexts, type LiveTexts } from './live-text.ts';
export { sessionHandlers } from './routes.ts';
export { createSessions, type Sessions } from './service.ts';
export {
  changeSession,
  findSession,
  findSessionRun,
  findTurn,
  framesOf,
  goOnIn,
  insertFrames,
  insertSessionRun,
  lastNumbers,
  liveSessions,
  openTurns,
  removeFrames,
  updateSessionRun,
  updateTurn,
} from './store.ts';
