export { createProjects, type Projects } from './service.ts';
export { createResults, type Apply, type Results } from './results.ts';
export { projectHandlers } from './routes.ts';
