/**
 * One model call as every wire says it, with the dialect taken off.
 * The scripted side (queue, intents, counters) knows only these types; each file in `wire/` fills them in.
 */

/** A tool the program offered with this call. */
export type ToolOffer = {
  readonly name: string;
  /** The group a provider nests the tool in (OpenAI Responses "namespace" tools). */
  readonly namespace?: string;
  /** True for a tool that takes free text instead of JSON arguments. */
  readonly freeform: boolean;
  /** JSON Schema properties of the arguments, by name. */
  readonly properties: Readonly<Record<string, unknown>>;
};

/** One piece of the conversation. `tool` is a tool's result, whatever role the provider sends it under. */
export type Turn = { readonly role: 'system' | 'user' | 'assistant' | 'tool'; readonly text: string };

/** What the program asked for. */
export type ModelCall = {
  readonly model: string;
  readonly stream: boolean;
  readonly system: string;
  readonly effort?: string;
  readonly tools: readonly ToolOffer[];
  readonly turns: readonly Turn[];
  /** The JSON Schema the answer must follow, when the call asks for structured output. */
  readonly schema?: unknown;
};

/** Token counts of a reply. */
export type Usage = { readonly input: number; readonly output: number; readonly cached: number };

/** One piece of a reply. A `freeform` call carries text, a `tool` call JSON arguments. */
export type ReplyPart =
  | { readonly kind: 'thinking'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string; readonly inPieces: number | null }
  | { readonly kind: 'tool'; readonly id: string; readonly name: string; readonly input: unknown }
  | { readonly kind: 'freeform'; readonly id: string; readonly name: string; readonly text: string };

/** A whole reply, before a wire gives it its shape. `created` is in epoch seconds. */
export type Reply = {
  readonly id: string;
  readonly parts: readonly ReplyPart[];
  readonly usage: Usage;
  readonly created: number;
};

/** The text of every user turn before the first answer: the prompt that opened the conversation. */
export function openingText(call: ModelCall): string {
  const firstAnswer = call.turns.findIndex((turn) => turn.role === 'assistant');
  const before = firstAnswer < 0 ? call.turns : call.turns.slice(0, firstAnswer);
  return userText(before);
}

/** The text of the last turn that is not a system turn; empty when there is none. */
export function lastText(call: ModelCall): string {
  return call.turns.findLast((turn) => turn.role !== 'system')?.text ?? '';
}

/** The text of the user's turns, one under the other. */
export function userText(turns: readonly Turn[]): string {
  return turns
    .filter((turn) => turn.role === 'user')
    .map((turn) => turn.text)
    .join('\n');
}

/** A call without tools is a side call (title, summary, routing): it does not belong to the conversation. */
export function isSideCall(call: ModelCall): boolean {
  return call.tools.length === 0;
}
