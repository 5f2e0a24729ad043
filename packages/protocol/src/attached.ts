import { z } from 'zod';
import { agentName, agentRef } from './agent-ref.ts';
import { id, operation } from './operation.ts';
import { instant, pageOf, pageQuery, requestId, safeName } from './scalars.ts';

// An attached session is a person's own agent program, started outside the node: it has an identity and asks for work, but
// neither environment nor log, and the node neither starts nor stops it (contracts/sessions.md).

export const attachedState = z.enum(['attached', 'ended']);

export const attachedView = z.object({
  id: z.string(),
  seq: z.int(),
  name: z.string(),
  state: attachedState,
  /** Why it ended. */
  reason: z.string().nullable(),
  /** What the person said it is. */
  harness: z.string().nullable(),
  agent: agentRef.nullable(),
  /** What the program says it is: name and version. */
  program: z.string().nullable(),
  /** Where it was started. */
  folder: z.string().nullable(),
  /** Name of the token that it came with. */
  by: z.string(),
  /** When its process was heard of last; null: it has ended, or not since this start of the node. */
  heardAt: instant.nullable(),
  createdAt: instant,
  endedAt: instant.nullable(),
  replayed: z.boolean(),
});
export type AttachedView = z.output<typeof attachedView>;

const program = z.string().min(1).max(200);

export const attachedCreate = z.strictObject({
  /** Default: made of its harness and its id. */
  name: safeName.optional(),
  harness: z.string().max(100).optional(),
  /** An agent of the user's own, by name or `source:name`. */
  agent: agentName.optional(),
  program: program.optional(),
  folder: z.string().min(1).max(4096).optional(),
  requestId: requestId.optional(),
});
export type AttachedCreate = z.output<typeof attachedCreate>;

/** Operations on attached sessions. Only who made one speaks for it, and the owner. */
export const attachedOperations = {
  attachedList: operation({
    method: 'get',
    path: '/attached-sessions',
    scope: 'viewer',
    summary: "People's own programs that are attached, or were, newest first.",
    query: pageQuery.extend({ state: attachedState.optional() }),
    answer: pageOf(attachedView),
  }),
  attachedShow: operation({
    method: 'get',
    path: '/attached-sessions/:id',
    scope: 'viewer',
    summary: 'One attached session, by id or name.',
    params: id,
    answer: attachedView,
  }),
  attachedBegin: operation({
    method: 'post',
    path: '/attached-sessions',
    scope: 'operator',
    summary: 'Attach a program that was started outside the node: it gets a session as its identity.',
    body: attachedCreate,
    answer: attachedView,
    status: 201,
  }),
  attachedBeat: operation({
    method: 'post',
    path: '/attached-sessions/:id/beat',
    scope: 'operator',
    summary: 'Say that the process lives; one that is not heard of for 15 seconds has ended.',
    params: id,
    body: z.strictObject({ program: program.optional() }),
    answer: attachedView,
  }),
  attachedEnd: operation({
    method: 'post',
    path: '/attached-sessions/:id/end',
    scope: 'operator',
    summary: 'Say that the process ends.',
    params: id,
    body: z.strictObject({}),
    answer: attachedView,
  }),
};
