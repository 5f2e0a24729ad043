import type { JsonObject } from '../json.ts';
import type { Refusal } from '../refusal.ts';

/** The body of a refusal as both OpenAI wires give it; a usage limit says when it ends. */
export function refuseAsOpenai(refusal: Refusal): JsonObject {
  const limit = refusal.resetsAt === undefined ? {} : { plan_type: 'pro', resets_at: refusal.resetsAt };
  return { error: { message: refusal.message, type: refusal.openaiCode, code: refusal.openaiCode, param: null, ...limit } };
}
