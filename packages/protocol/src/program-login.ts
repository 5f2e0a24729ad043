import { z } from 'zod';
import { empty, id, operation } from './operation.ts';
import { instant } from './scalars.ts';

// How the model calls of an agent program are paid: by a login (a subscription of its maker) or by the key of a provider
// (contracts/broker.md). Nothing here ever holds a token that is kept.

/** Longest token that a person hands over, characters. */
export const LOGIN_TOKEN_CHARS = 2_000;

/**
 * What the calls of a harness are paid by; `model`: by the key of whatever provider its model names; `own`: by an account of the program's own, in its home;
 * `nobody`: it calls no model.
 */
export const paidBy = z.enum(['login', 'key', 'nothing', 'model', 'own', 'nobody']);
export type PaidBy = z.output<typeof paidBy>;

/** How a harness stands with its login. */
export const harnessLoginView = z.object({
  harness: z.string(),
  paidBy,
  /** `waiting`: a person has to go to `url` and type `code`. `ended`: there is one, and its provider does not take it any more. */
  state: z.enum(['none', 'waiting', 'kept', 'ended']),
  /** How it can be logged in: with a token that its program prints, or by a code typed on any device. Empty: it cannot, `problem` says why. */
  ways: z.array(z.enum(['token', 'device'])),
  /** What kind of account; null: none can be used. */
  account: z.string().nullable(),
  /** Whose, as far as its provider says. */
  who: z.string().nullable(),
  since: instant.nullable(),
  /** The command that prints a token, for the way `token`; null: its program is not installed, or there is no such way. */
  prints: z.string().nullable(),
  url: z.string().nullable(),
  code: z.string().nullable(),
  /** When the code is of no use any more. */
  waitsUntil: instant.nullable(),
  /** What went wrong with the last login, or why there can be none. */
  problem: z.string().nullable(),
});
export type HarnessLoginView = z.output<typeof harnessLoginView>;

export const programLoginOperations = {
  harnessLoginShow: operation({
    method: 'get',
    path: '/harnesses/:id/login',
    scope: 'owner',
    summary: 'How the model calls of an agent program are paid, and how a login of it stands.',
    params: id,
    answer: harnessLoginView,
  }),
  harnessLogin: operation({
    method: 'post',
    path: '/harnesses/:id/login',
    scope: 'owner',
    summary: 'Log in to the account of an agent program, with its token or by a code that a person types elsewhere.',
    params: id,
    body: z.strictObject({
      requestId: z.string().max(200).optional(),
      /** The token that its program printed; absent: by a code. */
      token: z.string().min(1).max(LOGIN_TOKEN_CHARS).optional(),
    }),
    answer: harnessLoginView,
  }),
  harnessLogout: operation({
    method: 'post',
    path: '/harnesses/:id/logout',
    scope: 'owner',
    summary: 'Forget the login of an agent program, or end one that waits.',
    params: id,
    body: empty,
    answer: harnessLoginView,
  }),
};
