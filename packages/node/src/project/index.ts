export { createProjects, type ProjectRef, type Projects } from './service.ts';
export type { ProjectParts } from './add.ts';
export type { Refreshed } from './refresh.ts';
export { createResults, type Apply, type ResultOf, type Results } from './results.ts';
export { projectHandlers } from './routes.ts';
export { hookNames, hookPath, settingsPath, type HookName } from './model.ts';
export type { CommitHook, CommitHooks } from './hooks.ts';
