import type { JsonObject } from '../json.ts';
import type { ModelCall, Reply } from '../model-call.ts';
import type { Refusal } from '../refusal.ts';

/** One server-sent event before it is written: its name, when the wire names events, and what it carries. */
export type WireEvent = { readonly event?: string; readonly payload: JsonObject | '[DONE]' };

/** One provider's dialect: reads its calls, writes its replies and refusals. Pure; no sockets. */
export type Wire = {
  readonly name: 'anthropic' | 'responses' | 'chat' | 'gemini';
  /** True when a POST to this path is a model call of this wire; any prefix before it is fine. */
  accepts(path: string): boolean;
  /** The call in the common words. Members that are missing or odd read as empty. */
  read(body: JsonObject, path: string): ModelCall;
  /** The reply as a stream. */
  stream(call: ModelCall, reply: Reply): Iterable<WireEvent>;
  /** The reply in one body. */
  whole(call: ModelCall, reply: Reply): JsonObject;
  /** The body of a refusal. */
  refuse(refusal: Refusal): JsonObject;
  /** Headers that this provider adds to a refusal, beside the refusal's own. */
  refusalHeaders(refusal: Refusal): Readonly<Record<string, string>>;
};

const MAX_PIECES = 2_000;

/** Cuts a text into pieces of `size` characters, larger ones when there would be more than 2,000. */
export function pieces(text: string, size: number): string[] {
  if (text === '') return [''];
  const step = Math.max(size, Math.ceil(text.length / MAX_PIECES));
  const cut: string[] = [];
  for (let from = 0; from < text.length; from += step) cut.push(text.slice(from, from + step));
  return cut;
}

/** The pieces of a reply's text: all of it at once when the step asked for one enormous line. */
export function textPieces(part: { readonly text: string; readonly inOnePiece?: boolean }): string[] {
  return part.inOnePiece ? [part.text] : pieces(part.text, 12);
}

/** The pieces of a tool call's arguments. */
export function argumentPieces(text: string): string[] {
  return pieces(text, 40);
}
