import { changeSet, fileChange, fileChangeQuery } from './change.ts';
import { id, operation } from './operation.ts';

/** Operations on what was changed, for who reviews it. */
export const changeOperations = {
  taskChanges: operation({
    method: 'get',
    path: '/tasks/:id/changes',
    scope: 'viewer',
    summary: 'The files that a result changes, with counts and sizes.',
    params: id,
    answer: changeSet,
  }),
  taskChange: operation({
    method: 'get',
    path: '/tasks/:id/changes/file',
    scope: 'viewer',
    summary: 'What a result changes in one file, hunk by hunk.',
    params: id,
    query: fileChangeQuery,
    answer: fileChange,
  }),
} as const;
