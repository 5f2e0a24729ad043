export { createTasks, type ProjectRef, type TaskParts, type Tasks } from './service.ts';
export { taskHandlers, type ResultDoor } from './routes.ts';
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
export { hasEnded, intentOf, type AttemptRow, type Ending, type StageRow, type TaskRow } from './model.ts';
