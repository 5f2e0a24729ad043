// What the gateway needs to know of a model request, and the one thing it changes in it.

import { z } from 'zod';
import type { Endpoint } from './endpoints.ts';

/** A request ready to be sent on. */
export type ModelRequest = { readonly model: string; readonly body: Buffer };

const shape = z.looseObject({
  model: z.string().min(1).max(200).optional(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
});

/**
 * Reads the model of a call, or null when the body is no JSON object with a model. Streamed Chat Completions tell their
 * usage only when asked, and a budget that a program can leave uncounted is none: there the question is put in.
 */
export const readModelRequest = (endpoint: Endpoint, body: Buffer): ModelRequest | null => {
  const { data } = shape.safeParse(parse(body));
  const model = endpoint.modelInPath ?? data?.model;
  if (data === undefined || model === undefined) return null;
  if (endpoint.call !== 'chat' || data.stream !== true || data.stream_options?.include_usage === true) return { model, body };
  return {
    model,
    body: Buffer.from(JSON.stringify({ ...data, stream_options: { ...data.stream_options, include_usage: true } })),
  };
};

const parse = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
};

/** Whether a list of models (`model`, `provider/model`, `provider/*`) names this one; null names all. */
export const isModelAllowed = (
  allowed: readonly string[] | null,
  { provider, model }: { readonly provider: string; readonly model: string },
): boolean =>
  allowed === null || allowed.includes(model) || allowed.includes(`${provider}/${model}`) || allowed.includes(`${provider}/*`);
