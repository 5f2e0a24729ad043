import { createHash } from 'node:crypto';
import { isSideCall, openingText, userText } from './model-call.ts';
import type { ModelCall } from './model-call.ts';

/**
 * Counts how often each marker came in as something the user said.
 *
 * A model call repeats the whole conversation, so a marker is counted by conversation: the most often it stands in
 * the user's turns of any one call. Calls belong to the same conversation when they open with the same user text.
 * The same opening, without any answer in it, after an earlier one was answered in full is a second conversation:
 * its prompts count again. An opening repeated after a failed answer is a retry and does not.
 */
export type PromptCounter = {
  /** Notes a call; the returned function is to be called when its reply was written to the end. */
  note(call: ModelCall): () => void;
  /** How often each marker was sent, by marker. */
  counts(): Readonly<Record<string, number>>;
  forget(): void;
};

/** What a marker looks like unless the server is told otherwise. */
export const MARKER_PATTERN = 'MARKER-[A-Za-z0-9_-]+';
/** Conversations whose markers are remembered; a further one makes `counts` throw, since it could not be exact. */
export const MAX_COUNTED_CONVERSATIONS = 10_000;

type Conversation = { answered: boolean; readonly most: Map<string, number> };

/** A counter of the markers that match the pattern. Side calls are not counted. */
export function createPromptCounter(pattern = MARKER_PATTERN): PromptCounter {
  const marker = new RegExp(pattern, 'g');
  const current = new Map<string, Conversation>();
  const total = new Map<string, number>();
  let conversations = 0;

  const conversationOf = (call: ModelCall): Conversation => {
    const key = createHash('sha256').update(openingText(call)).digest('hex');
    const isOpening = !call.turns.some((turn) => turn.role === 'assistant');
    const known = current.get(key);
    if (known !== undefined && !(isOpening && known.answered)) return known;
    conversations += 1;
    const fresh = { answered: false, most: new Map<string, number>() };
    if (conversations <= MAX_COUNTED_CONVERSATIONS) current.set(key, fresh);
    return fresh;
  };

  return {
    note(call) {
      if (isSideCall(call)) return () => {};
      const found = userText(call.turns).match(marker) ?? [];
      if (found.length === 0) return () => {};
      const conversation = conversationOf(call);
      for (const [name, count] of tally(found)) {
        const before = conversation.most.get(name) ?? 0;
        if (count <= before) continue;
        conversation.most.set(name, count);
        total.set(name, (total.get(name) ?? 0) + count - before);
      }
      return () => {
        conversation.answered = true;
      };
    },
    counts() {
      if (conversations > MAX_COUNTED_CONVERSATIONS)
        throw new RangeError(
          `prompt counts: more than ${MAX_COUNTED_CONVERSATIONS} conversations carried a marker, the counts are not exact. Reset the server between tests.`,
        );
      return Object.fromEntries(total);
    },
    forget() {
      current.clear();
      total.clear();
      conversations = 0;
    },
  };
}

function tally(found: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of found) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
