import { z } from 'zod';
import { done, empty, operation } from './operation.ts';
import { instant } from './scalars.ts';
import { scope } from './token.ts';

/** A key of a login link: 64 hex digits, good once. */
export const loginKey = z.string().regex(/^[0-9a-f]{64}$/);

/** Who a caller is. */
export const callerView = z.object({ name: z.string(), scope });

/** Operations by which a browser is let in: a link from somebody who is, opened once. */
export const loginOperations = {
  loginLink: operation({
    method: 'post',
    path: '/login-links',
    scope: 'viewer',
    summary: 'A link that lets one browser in, once, with at most the scope of who asks for it.',
    body: z.strictObject({ scope: scope.optional() }),
    answer: z.object({
      /** Path of the link below the address of the node; what lets in stands behind the `#`, which no server is sent. */
      path: z.string(),
      scope,
      until: instant,
    }),
    status: 201,
  }),
  loginEnter: operation({
    method: 'post',
    path: '/login',
    scope: null,
    summary: 'Let this browser in by the key of a link: its credential is a cookie that no script can read.',
    body: z.strictObject({ key: loginKey }),
    answer: callerView,
  }),
  loginLeave: operation({
    method: 'post',
    path: '/logout',
    scope: 'viewer',
    summary: 'Forget this browser.',
    body: empty,
    answer: done,
  }),
  callerShow: operation({
    method: 'get',
    path: '/caller',
    scope: 'viewer',
    summary: 'Who the caller is, and what it may do.',
    answer: callerView,
  }),
} as const;
