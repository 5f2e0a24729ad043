import { z } from 'zod';
import { changeSet, fileChange, fileChangeQuery, leftOut, sessionChangeSet } from './change.ts';
import { id, operation } from './operation.ts';
import { sessionRewound } from './session-history.ts';

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
  sessionChanges: operation({
    method: 'get',
    path: '/sessions/:id/changes',
    scope: 'viewer',
    summary: 'Look at the files of a session between its turns: what was changed since its base, or since a checkpoint.',
    params: id,
    /** The number of a turn (what was before it), or the id of a checkpoint. */
    query: z.object({ from: z.string().min(1).max(100).optional() }),
    answer: sessionChangeSet,
  }),
  sessionChange: operation({
    method: 'get',
    path: '/sessions/:id/changes/file',
    scope: 'viewer',
    summary: 'What was changed in one file of a look at the files of a session, hunk by hunk.',
    params: id,
    query: fileChangeQuery.extend({ look: z.string().min(1).max(200) }),
    answer: fileChange,
  }),
  sessionTakeBack: operation({
    method: 'post',
    path: '/sessions/:id/changes/take-back',
    scope: 'operator',
    summary:
      'Take parts of what was changed in the files of a session back, between its turns; what is there now is saved first.',
    params: id,
    body: z.strictObject({ look: z.string().min(1).max(200), without: leftOut.min(1) }),
    answer: sessionRewound,
  }),
} as const;
