import { z } from 'zod';
import type { Scope } from './token.ts';

/** One operation of the HTTP API: the server registers it, the client calls it, OpenAPI shows it. Paths are below `/api/v1`. */
export type Operation = {
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  readonly path: string;
  readonly scope: Scope | null;
  readonly summary: string;
  readonly params: z.ZodObject;
  readonly query: z.ZodObject;
  readonly body: z.ZodType | null;
  readonly answer: z.ZodType;
  readonly status: 200 | 201 | 202;
};

const none = z.object({});
/** A body that is a file: `application/octet-stream`, taken in as it comes. */
export const bytes = z.custom<AsyncIterable<Uint8Array> | Uint8Array>();
/** The parameter of a path with `:id`. */
export const id = z.object({ id: z.string().min(1).max(200) });
/** The answer of what has nothing to tell. */
export const done = z.object({ ok: z.literal(true) });
/** The body of what needs nothing but its request id. */
export const empty = z.strictObject({ requestId: z.string().max(200).optional() });

/** An operation whose schemas that were left out are empty. */
export const operation = <
  Params extends z.ZodObject = typeof none,
  Query extends z.ZodObject = typeof none,
  Body extends z.ZodType | null = null,
  Answer extends z.ZodType = z.ZodType,
>(given: {
  method: Operation['method'];
  path: string;
  scope: Scope | null;
  summary: string;
  params?: Params;
  query?: Query;
  body?: Body;
  answer: Answer;
  status?: Operation['status'];
}) => ({
  method: given.method,
  path: given.path,
  scope: given.scope,
  summary: given.summary,
  params: (given.params ?? none) as Params,
  query: (given.query ?? none) as Query,
  body: (given.body ?? null) as Body,
  answer: given.answer,
  status: given.status ?? (200 as const),
});
