import { anthropic } from './wire/anthropic.ts';
import { chat } from './wire/chat.ts';
import { gemini } from './wire/gemini.ts';
import { responses } from './wire/responses.ts';
import type { Wire } from './wire/wire.ts';

/** Every wire the server speaks. */
export const WIRES: readonly Wire[] = [anthropic, responses, chat, gemini];

/** The wire whose model calls are posted to this path. */
export function wireFor(path: string): Wire | undefined {
  return WIRES.find((wire) => wire.accepts(path));
}
