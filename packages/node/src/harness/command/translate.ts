// A plain command's output as text. Whole lines are taken together as they come; a line that never ends is taken in pieces.

import type { ConversationBody } from '@orrery/protocol';
import { z } from 'zod';
import type { Translator, TranslatorState } from '../harness.ts';
import { INLINE_TEXT_BYTES, MAX_COMMAND_TEXT_BYTES } from '../limits.ts';
import { settleOutcome } from '../outcome.ts';

const kept = z.object({ shown: z.int().default(0), hidden: z.int().default(0) });

const LF = 10;

/** Makes a translator for the stdout of a command. Rows are named by their offset in the stream. */
export const createCommandTranslator = (from: { readonly offset: number; readonly state: TranslatorState }): Translator => {
  let { shown, hidden } = kept.parse(from.state);
  let offset = from.offset;
  let pending: Uint8Array = new Uint8Array(0);

  const take = (bytes: Uint8Array): readonly ConversationBody[] => {
    const row = `output-${offset}`;
    offset += bytes.length;
    if (shown + bytes.length > MAX_COMMAND_TEXT_BYTES) {
      hidden += bytes.length;
      return [];
    }
    shown += bytes.length;
    return [{ kind: 'text', row, text: new TextDecoder().decode(bytes) }];
  };

  /** Everything up to the last line end within the size of one event, again and again. */
  const takeLines = (): ConversationBody[] => {
    const events: ConversationBody[] = [];
    for (let length = takeable(pending); length > 0; length = takeable(pending)) {
      events.push(...take(pending.subarray(0, length)));
      pending = pending.subarray(length);
    }
    pending = pending.slice();
    return events;
  };

  return {
    push(bytes) {
      pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes]);
      return { events: takeLines(), offset, state: { shown, hidden }, conversation: null, settled: false, accepted: offset > 0 };
    },
    end(end) {
      const events = [...takeLines(), ...(pending.length > 0 ? take(pending) : [])];
      pending = new Uint8Array(0);
      if (hidden > 0) events.push({ kind: 'notice', level: 'warning', text: `${hidden} more bytes of output are not shown.` });
      return { events, outcome: settleOutcome(wordOf(end.exitCode), end, 'The command') };
    },
  };
};

/** Exit code 0 is success, codes below 128 are the command's own failure, the others a signal's. */
const wordOf = (exitCode: number | null) => {
  if (exitCode === 0) return { kind: 'success' } as const;
  if (exitCode === null || exitCode > 128) return null;
  return {
    kind: 'failure',
    failure: 'program',
    message: `The command ended with exit code ${exitCode}.`,
    resetsAt: null,
  } as const;
};

const takeable = (bytes: Uint8Array): number => {
  const window = bytes.subarray(0, INLINE_TEXT_BYTES);
  const lines = window.lastIndexOf(LF) + 1;
  if (lines > 0 || bytes.length < INLINE_TEXT_BYTES) return lines;
  return characterBoundary(window);
};

/** The length without a character that is cut at the end; UTF-8 continuation bytes begin with the bits 10. */
const characterBoundary = (bytes: Uint8Array): number => {
  for (let back = 1; back <= 3; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    if (byte >= 0xc0) return back >= needed ? bytes.length : bytes.length - back;
    if (byte < 0x80) break;
  }
  return bytes.length;
};
