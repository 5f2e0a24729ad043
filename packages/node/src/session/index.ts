export { apart, withPicturesKept } from './details.ts';
export {
  AT_BEGINNING,
  checkpointNotFound,
  goesNatively,
  operationOf,
  placeOfCheckpoint,
  pointOf,
  type Rewinding,
} from './checkpoint.ts';
export { checkpointsOf, findCheckpoint, insertCheckpoint, removeCheckpoints, type CheckpointRow } from './checkpoint-store.ts';
export type { SessionConductor, SessionLook } from './doors.ts';
export { handOverRecord } from './hand-over-record.ts';
export { createCheckpointSweep, pruneAll, PRUNED_AT_ONCE, removeRuns } from './pruning.ts';
export { createTakeBack } from './take-back.ts';
export { createSessionReview, type SessionReview } from './review.ts';
export { createSessionHistory, type SessionHistory } from './history.ts';
export { isActive, sessionNotFound, toldOf, type SessionRow, type SessionRunRow, type TurnRow } from './model.ts';
export { CHECKPOINT_SYNC_MS, SESSION_CHECKPOINTS, TITLE_ASKED_CHARS, TITLE_CALL_MS } from './limits.ts';
export { checkLease, claimSession, releaseSessions, renewSessions, takeSessionsOver, type SessionLease } from './lease.ts';
export { titleOfAnswer } from './title.ts';
export { sessionHistoryHandlers } from './history-routes.ts';
export { spentOf } from './budget.ts';
export { commandName, commandsOf, noCommand } from './actions.ts';
export { attachmentBytes, sweepAttachments } from './attachments.ts';
export { createCatalogues, keepCatalogue } from './catalogues.ts';
export { isImage } from './media-type.ts';
export { createLiveTexts, type LiveTexts } from './live-text.ts';
export { catalogueHandlers, sessionHandlers } from './routes.ts';
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
  markUndone,
  newestSequence,
  openTurns,
  readySessions,
  removeFrames,
  tellRenamed,
  undoneTurns,
  updateSessionRun,
  updateTurn,
} from './store.ts';
