import { z } from 'zod';
import { done, id, operation } from './operation.ts';
import { project, projectAdd, projectSet } from './project.ts';
import { pageOf, pageQuery } from './scalars.ts';

/** Operations on projects. */
export const projectOperations = {
  projectList: operation({
    method: 'get',
    path: '/projects',
    scope: 'viewer',
    summary: 'Projects.',
    query: pageQuery,
    answer: pageOf(project),
  }),
  projectAdd: operation({
    method: 'post',
    path: '/projects',
    scope: 'operator',
    summary: 'Add a repository by path or URL; adding it again answers the same project.',
    body: projectAdd,
    answer: project,
    status: 201,
  }),
  projectShow: operation({
    method: 'get',
    path: '/projects/:id',
    scope: 'viewer',
    summary: 'One project.',
    params: id,
    answer: project,
  }),
  projectSet: operation({
    method: 'patch',
    path: '/projects/:id',
    scope: 'operator',
    summary: 'Change a project.',
    params: id,
    body: projectSet,
    answer: project,
  }),
  projectRemove: operation({
    method: 'delete',
    path: '/projects/:id',
    scope: 'owner',
    summary: 'Forget a project; refused while anything unsaved depends on it.',
    params: id,
    query: z.object({ salvage: z.stringbool().default(false) }),
    answer: done,
  }),
} as const;
