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
  /** What a kind of event carries that no program knows: no answer, and no error. */
  unknown(): JsonObject;
  /** Headers that this provider adds to a refusal, beside the refusal's own. */
  refusalHeaders(refusal: Refusal): Readonly<Record<string, string>>;
};

const MAX_PIECES = 2_000;

/** Cuts a text into pieces of `size` characters, larger ones when there would be more than 2,000. */
export function pieces(text: string, size: number): string[] {
  return cutInto(text, Math.max(size, Math.ceil(text.length / MAX_PIECES)));
}

/** Pieces of so many characters, one more where that would cut one that JSON takes two for. */
function cutInto(text: string, step: number): string[] {
  if (text === '') return [''];
  const cut: string[] = [];
  for (let from = 0; from < text.length;) {
    const isHigh = (text.codePointAt(from + step - 1) ?? 0) > 0xff_ff;
    const to = from + step + (isHigh ? 1 : 0);
    cut.push(text.slice(from, to));
    from = to;
  }
  return cut;
}

/** The pieces of a reply's text: as many as the step asked for. */
export function textPieces({ text, inPieces = null }: { readonly text: string; readonly inPieces?: number | null }): string[] {
  return inPieces === null ? pieces(text, 12) : cutInto(text, Math.max(1, Math.ceil(text.length / inPieces)));
}

/** The pieces of a tool call's arguments. */
export function argumentPieces(text: string): string[] {
  return pieces(text, 40);
}
