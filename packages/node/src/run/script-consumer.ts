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

/** A byte order mark is shown like everything else: after a restart the first bytes are not the stream's first. */
const decoder = () => new TextDecoder('utf-8', { ignoreBOM: true });

/** Shows a script's output as events, up to a named limit, and keeps its head and tail for the record. */
export const scriptConsumer = (
  where: { readonly attempt: number; readonly stage: StageName; readonly round: number },
  from: ConsumerStart,
): Consumer<ScriptOutcome> => {
  const state: ScriptState = (from.state as ScriptState | null) ?? { head: '', tail: '', bytes: 0, shown: 0 };
  const offsets = { stdout: from.stdout, stderr: from.stderr };
  // A character may be split between two pieces; the rest of it stays in the decoder, one for each stream.
  const decoders = { stdout: decoder(), stderr: decoder() };
  const ends: Record<OutputStream, Uint8Array> = { stdout: new Uint8Array(), stderr: new Uint8Array() };
  const begun = { stdout: 0, stderr: 0 };

  /** How many of the bytes so far begin a character that is not ended yet. */
  const look = (stream: OutputStream, bytes: Uint8Array): number => {
    const last = bytes.length < MOST_BEGUN ? Buffer.concat([ends[stream], bytes]) : bytes;
    ends[stream] = Uint8Array.from(last.subarray(-MOST_BEGUN));
    return begunBytes(ends[stream]);
  };

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
      // Counted when they are shown: those of a character that is not ended yet come again after a restart.
      const before = begun[stream];
      begun[stream] = look(stream, bytes);
      state.bytes += before + bytes.length - begun[stream];
      const text = decoders[stream].decode(bytes, { stream: true });
      keep(text);
      return {
        bodies: show(stream, text),
        offset: offsets[stream] - begun[stream],
        conversation: null,
        accepted: false,
        settled: false,
      };
    },
    state: () => state,
    end: () => {
      const bodies = (['stdout', 'stderr'] as const).flatMap((stream) => {
        const rest = decoders[stream].decode();
        keep(rest);
        return show(stream, rest);
      });
      state.bytes += begun.stdout + begun.stderr;
      const cut = state.tail !== '' && state.bytes > CAPTURED_BYTES;
      const text = cut
        ? `${state.head}\n… ${state.bytes} bytes in all, the middle left out …\n${state.tail}`
        : state.head + state.tail;
      return { bodies, outcome: { output: { text, bytes: state.bytes, cut } } };
    },
  };
};

const MOST_BEGUN = 3;

/**
 * Bytes at the end of a stream that begin a character without ending it: they are read again after a restart. `last` are
 * its last bytes, at least three where there are so many, in whatever pieces they came.
 */
const begunBytes = (last: Uint8Array): number => {
  if ((last.at(-1) ?? 0) < 0x80) return 0;
  for (let count = Math.min(MOST_BEGUN, last.length); count > 0; count--)
    // What a decoder keeps to itself is what it waits to see the end of.
    if (decoder().decode(last.subarray(-count), { stream: true }) === '') return count;
  return 0;
};
