import type { OperationHandlers } from '@orrery/protocol';
import type { Projects } from './service.ts';

type ProjectOperations = 'projectAdd' | 'projectList' | 'projectShow' | 'projectSet' | 'projectRemove';

/** Handlers of the project operations. */
export const projectHandlers = (projects: Projects): Pick<OperationHandlers, ProjectOperations> => ({
  projectAdd: ({ body }) => projects.add(body),
  projectList: ({ query }) => projects.list(query),
  projectShow: ({ params }) => projects.show(params.id),
  projectSet: ({ params, body }) => projects.set(params.id, body),
  projectRemove: async ({ params, query }) => {
    await projects.remove(params.id, query);
    return { ok: true };
  },
});
