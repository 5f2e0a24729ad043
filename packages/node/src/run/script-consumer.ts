import type { EventBody, StageName } from '@orrery/protocol';
import type { OutputStream } from '../keeper/types.ts';
import { CAPTURED_BYTES, OUTPUT_EVENT_BYTES, OUTPUT_EVENTS_BYTES } from '../kernel/limits.ts';
import type { Consumer, ConsumerStart } from './program.ts';

/** Head and tail of an output, and how much there was in all. */
export type Captured = { readonly text: string; readonly bytes: number; readonly cut: boolean };

/** What a script said: both streams in the order in which they were read, head and tail of it. */
export type ScriptOutcome = { readonly output: Captured };

type ScriptState = { head: string; tail: string; bytes: number; shown: number };

const half = CAPTURED_BYTES / 2;

/** Shows a script's output as events, up to a named limit, and keeps its head and tail for the record. */
export const scriptConsumer = (
  where: { readonly attempt: number; readonly stage: StageName; readonly round: number },
  from: ConsumerStart,
): Consumer<ScriptOutcome> => {
  const state: ScriptState = (from.state as ScriptState | null) ?? { head: '', tail: '', bytes: 0, shown: 0 };
  const offsets = { stdout: from.stdout, stderr: from.stderr };
  // A character may be split between two pieces; the rest of it stays in the decoder, one for each stream.
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };

  const keep = (text: string): void => {
    const room = half - state.head.length;
    if (room > 0) state.head += text.slice(0, room);
    if (text.length > room) state.tail = (state.tail + text.slice(Math.max(0, room))).slice(-half);
  };

  const show = (stream: OutputStream, text: string): EventBody[] => {
    const bodies: EventBody[] = [];
    for (let at = 0; at < text.length && state.shown < OUTPUT_EVENTS_BYTES; at += OUTPUT_EVENT_BYTES) {
      const piece = text.slice(at, at + OUTPUT_EVENT_BYTES);
      state.shown += piece.length;
      bodies.push({ kind: 'stage.output', ...where, stream, text: piece });
      if (state.shown >= OUTPUT_EVENTS_BYTES)
        bodies.push({
          kind: 'notice',
          level: 'warning',
          text: `Output of ${where.stage} is longer than ${OUTPUT_EVENTS_BYTES} bytes; the rest is not shown.`,
        });
    }
    return bodies;
  };

  return {
    push: (stream, bytes) => {
      offsets[stream] += bytes.length;
      state.bytes += bytes.length;
      const text = decoders[stream].decode(bytes, { stream: true });
      keep(text);
      return {
        bodies: show(stream, text),
        offset: offsets[stream] - incompleteBytes(bytes),
        conversation: null,
        accepted: false,
        settled: false,
      };
    },
    state: () => state,
    end: () => {
      const cut = state.tail !== '' && state.bytes > CAPTURED_BYTES;
      const text = cut
        ? `${state.head}\n… ${state.bytes} bytes in all, the middle left out …\n${state.tail}`
        : state.head + state.tail;
      return { bodies: [], outcome: { output: { text, bytes: state.bytes, cut } } };
    },
  };
};

/** Bytes at the end of a piece that begin a character without ending it: they are read again after a restart. */
const incompleteBytes = (bytes: Uint8Array): number => {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > back ? back : 0;
  }
  return 0;
};
