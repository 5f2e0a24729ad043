export { createTasks, type ProjectRef, type TaskParts, type Tasks } from './service.ts';
export { taskHandlers, type ResultDoor } from './routes.ts';
export { countByState, tasksInStates } from './store.ts';
