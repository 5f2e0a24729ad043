import { z } from 'zod';
import { done, id, operation } from './operation.ts';
import {
  checkpointList,
  checkpointView,
  sessionFork,
  sessionHandOver,
  sessionRewind,
  sessionRewound,
} from './session-history.ts';
import { sessionView } from './session.ts';

/** Operations on a session as a whole, behind its turns. */
export const sessionHistoryOperations = {
  sessionCheckpoints: operation({
    method: 'get',
    path: '/sessions/:id/checkpoints',
    scope: 'viewer',
    summary: 'Moments that a session can go back to, newest first.',
    params: id,
    answer: checkpointList,
  }),
  sessionCheckpoint: operation({
    method: 'post',
    path: '/sessions/:id/checkpoints',
    scope: 'operator',
    summary: 'Save files and conversation as they are now.',
    params: id,
    body: z.strictObject({}),
    answer: checkpointView,
    status: 201,
  }),
  sessionRewind: operation({
    method: 'post',
    path: '/sessions/:id/rewind',
    scope: 'operator',
    summary: 'Take files and conversation back to a checkpoint; what is there now is saved first.',
    params: id,
    body: sessionRewind,
    answer: sessionRewound,
  }),
  sessionFork: operation({
    method: 'post',
    path: '/sessions/:id/fork',
    scope: 'operator',
    summary:
      'Begin another session with the files and the conversation as they were at a checkpoint, in an environment of its own. This one stays as it is.',
    params: id,
    body: sessionFork,
    answer: sessionView,
    status: 202,
  }),
  sessionHandOver: operation({
    method: 'post',
    path: '/sessions/:id/hand-over',
    scope: 'operator',
    summary:
      'Let another program go on with the conversation, in the same files; answers the session that goes on. This one ends.',
    params: id,
    body: sessionHandOver,
    answer: sessionView,
    status: 202,
  }),
  sessionDelete: operation({
    method: 'delete',
    path: '/sessions/:id',
    scope: 'operator',
    summary: 'Delete a session that has ended, with everything that was said in it; refused while unsaved work depends on it.',
    params: id,
    answer: done,
  }),
} as const;
