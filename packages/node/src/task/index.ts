export { createTasks, type Tasks } from './service.ts';
export type { TaskParts } from './parts.ts';
export { branchOf, resultOf, taskHandlers } from './routes.ts';
export { requeueLimited } from './requeue.ts';
export { mayBegin, tellWaiting } from './waiting.ts';
export { countByState, findTask, tasksInStates, updateTask } from './store.ts';
export {
  attemptsOf,
  findStage,
  insertAttempt,
  insertStage,
  interruptStages,
  openAttempt,
  stagesOf,
  updateAttempt,
  updateStage,
  type StageKey,
} from './attempt-store.ts';
export { intentOf, type AttemptRow, type Ending, type StageRow, type TaskRow } from './model.ts';
