import { z } from 'zod';
import { done, empty, id, operation } from './operation.ts';
import { instant, requestId } from './scalars.ts';

// A browser that is told of what needs a person while no window of the client is open, by the push service of its maker.

const base64url = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .regex(/^[\w-]+=*$/);

/** What a browser's own `PushSubscription` says of itself. */
export const pushCreate = z.strictObject({
  endpoint: z.url({ protocol: /^https$/ }).max(2_000),
  keys: z.strictObject({ p256dh: base64url(200), auth: base64url(100) }),
  requestId: requestId.optional(),
});
export type PushCreate = z.output<typeof pushCreate>;

/** One browser that is told. Its address stays with the node: whoever knows it can write to it. */
export const pushView = z.object({
  id: z.string(),
  /** The host of the push service. */
  service: z.string(),
  /** Name of the token of the browser. */
  by: z.string(),
  createdAt: instant,
  /** When the service last took a message. */
  toldAt: instant.nullable(),
  /** Why it did not take the last one. */
  error: z.string().nullable(),
});
export type PushView = z.output<typeof pushView>;

/** Operations on browsers that are told by push. */
export const pushOperations = {
  pushList: operation({
    method: 'get',
    path: '/push',
    scope: 'viewer',
    summary: "The node's key for push, and the browsers of the caller that are told; the owner sees all.",
    answer: z.object({ key: z.string(), items: z.array(pushView) }),
  }),
  pushAdd: operation({
    method: 'post',
    path: '/push',
    scope: 'viewer',
    summary:
      'Tell this browser by push what needs a person, for as long as its token is good. The same address again is the same browser.',
    body: pushCreate,
    answer: pushView,
    status: 201,
  }),
  pushTry: operation({
    method: 'post',
    path: '/push/:id/try',
    scope: 'viewer',
    summary: 'Send one message to it now.',
    params: id,
    body: empty,
    answer: pushView,
  }),
  pushRemove: operation({
    method: 'delete',
    path: '/push/:id',
    scope: 'viewer',
    summary: 'Tell it nothing any more.',
    params: id,
    answer: done,
  }),
};
