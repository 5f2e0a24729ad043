import { OrreryError } from '@orrery/protocol/errors';
import type { LiveText, OrreryEvent } from '@orrery/protocol';
import { answerInvalid, failureOfAnswer, failureOfTransport, isPassing } from './failure.ts';
import { createFrameReader, type Frame } from './frames.ts';
import { clientLimits } from './limits.ts';
import type { TransportAnswer } from './transport.ts';

/** What of time and chance a stream uses. */
export type Pace = {
  now(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** 0 ≤ x < 1. */
  random(): number;
};

/** The first frame of a stream: the cursor it begins after, and the newest `seq` of the node. */
export type Hello = { readonly after: number; readonly seq: number };

export type FollowOptions = {
  /** The cursor to begin after; 0 is the beginning. */
  readonly after?: number;
  readonly signal?: AbortSignal;
  /**
   * Called when the node no longer has what follows the cursor; reading goes on after `reset.after`. Without it the stream
   * ends with `cursor_expired`: a gap is never silent.
   */
  readonly onReset?: (reset: Hello) => void;
  /** Called when the connection is lost (with the reason) and when it stands again (null). */
  readonly onConnection?: (lost: OrreryError | null) => void;
  /** Of a session: called with text while it is written, between the events; null: what was shown so far is void, and what is live comes again. */
  readonly onLive?: (piece: LiveText | null) => void;
  /** How long to try without hearing anything; then the stream ends with what went wrong. */
  readonly awayMs?: number;
};

/** How to open the stream and read its cursor. */
export type Source = {
  readonly open: (after: number, signal: AbortSignal) => Promise<TransportAnswer>;
  readonly cursorOf: (event: OrreryEvent) => number | null;
  /** Whether cursors have no holes: then a hole is a mistake of the connection and it is opened again. */
  readonly contiguous: boolean;
  readonly pace: Partial<Pace>;
};

const systemPace: Pace = {
  now: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      const timer = setTimeout(done, ms);
      signal.addEventListener('abort', done, { once: true });
      function done(): void {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      }
    }),
  random: Math.random,
};

/** State that outlives connections. */
type Progress = { cursor: number; lastHeardMs: number; failures: number; wrongAnswers: number; lost: boolean };

/**
 * Follows a stream of events over as many connections as it takes. Each event comes exactly once and in order: what is at or
 * below the cursor is dropped, a hole in contiguous cursors reopens the stream. Pauses between tries double from 0.1 s to 5 s
 * with jitter. Ends quietly when the signal aborts; throws what is not going to pass (`not_found`, `forbidden`,
 * `cursor_expired`, `answer_invalid`), or `node_unreachable` after `awayMs`.
 */
export async function* follow(options: FollowOptions & Source): AsyncGenerator<OrreryEvent, void, undefined> {
  const pace = { ...systemPace, ...options.pace };
  const progress: Progress = { cursor: options.after ?? 0, lastHeardMs: pace.now(), failures: 0, wrongAnswers: 0, lost: false };
  const signal = options.signal ?? new AbortController().signal;
  while (!signal.aborted) {
    let failure: OrreryError;
    try {
      yield* connection({ options, progress, pace, signal });
      failure = new OrreryError('node_unreachable', 'The node closed the stream of events.', {
        fix: 'See what the node does: orrery status',
      });
    } catch (thrown) {
      if (signal.aborted) return;
      failure = thrown instanceof OrreryError ? thrown : failureOfTransport(thrown, false);
    }
    if (!mayRetry(failure, progress) || pace.now() - progress.lastHeardMs > (options.awayMs ?? clientLimits.awayMs))
      throw failure;
    if (!progress.lost) options.onConnection?.(failure);
    progress.lost = true;
    await pace.sleep(pauseOf(progress.failures++, pace.random()), signal);
  }
}

const mayRetry = (failure: OrreryError, progress: Progress): boolean => {
  if (failure.code === 'answer_invalid') return ++progress.wrongAnswers < clientLimits.wrongAnswers;
  return isPassing(failure);
};

/** Half of the doubled pause is fixed and half is chance, so that many readers do not come back at once. */
const pauseOf = (failures: number, chance: number): number => {
  const { first, longest } = clientLimits.pauseMs;
  const pause = Math.min(longest, first * 2 ** Math.min(failures, 16));
  return Math.round(pause / 2 + (pause / 2) * chance);
};

type Connection = {
  readonly options: FollowOptions & Source;
  readonly progress: Progress;
  readonly pace: Pace;
  readonly signal: AbortSignal;
};

/** One connection, from its first frame to its end. */
async function* connection({ options, progress, pace, signal }: Connection): AsyncGenerator<OrreryEvent, void, undefined> {
  const own = new AbortController();
  const both = AbortSignal.any([own.signal, signal]);
  const silence = watchSilence(own);
  try {
    const answer = await options.open(progress.cursor, both);
    if (answer.status !== 200) throw failureOfAnswer(answer.status, await errorOf(answer));
    if (!(answer.headers['content-type'] ?? '').startsWith('text/event-stream'))
      throw answerInvalid('it is not a stream of events');
    let greeted = false;
    const heard = (): void => {
      progress.lastHeardMs = pace.now();
      silence.heard();
    };
    for await (const frame of framesOf(answer, heard)) {
      if (!greeted || frame.event === 'reset') {
        greet(frame, options, progress);
        greeted = true;
        options.onLive?.(null);
      } else if (frame.event === 'live') {
        options.onLive?.(liveOf(frame));
      } else if (frame.event !== 'hello') {
        const event = take(frame, options, progress);
        if (event !== null) yield event;
      }
    }
  } finally {
    silence.end();
    own.abort();
  }
}

/** Ends a connection that says nothing, not even a comment, for too long. */
const watchSilence = (own: AbortController): { heard(): void; end(): void } => {
  const giveUp = (): void =>
    own.abort(
      new OrreryError('node_unreachable', 'The stream of events fell silent.', { fix: 'See what the node does: orrery status' }),
    );
  let timer = setTimeout(giveUp, clientLimits.silenceMs);
  return {
    heard: () => {
      clearTimeout(timer);
      timer = setTimeout(giveUp, clientLimits.silenceMs);
    },
    end: () => clearTimeout(timer),
  };
};

async function* framesOf(answer: TransportAnswer, heard: () => void): AsyncGenerator<Frame, void, undefined> {
  const decoder = new TextDecoder();
  const reader = createFrameReader(clientLimits.frameBytes);
  for await (const chunk of answer.body) {
    heard();
    yield* reader.push(decoder.decode(chunk, { stream: true }));
  }
}

const errorOf = async (answer: TransportAnswer): Promise<unknown> => {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of answer.body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > 65_536) return null;
  }
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

const parse = (frame: Frame): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(frame.data);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Named below: what a frame holds is not shown.
  }
  throw answerInvalid('an event is not JSON');
};

const liveOf = (frame: Frame): LiveText => {
  const { kind, row, at, append } = parse(frame);
  if (kind !== 'text' && kind !== 'thinking' && kind !== 'tool.result') throw answerInvalid('it shows text of no kind of row');
  if (typeof row !== 'string' || typeof at !== 'number' || typeof append !== 'string')
    throw answerInvalid('it shows text of no row');
  return { kind, row, at, append };
};

/** Reads the first frame or a later reset, and moves the cursor only when the reader was told. */
const greet = (frame: Frame, options: FollowOptions, progress: Progress): void => {
  const { after, seq } = parse(frame);
  if (typeof after !== 'number' || typeof seq !== 'number') throw answerInvalid('the stream does not begin with its cursor');
  if (frame.event === 'reset') {
    if (options.onReset === undefined) {
      throw new OrreryError('cursor_expired', 'The node no longer has the events after that point.', {
        rule: 'A gap in a stream is never silent.',
        fix: 'Read the present state instead: orrery task list',
      });
    }
    options.onReset({ after, seq });
    progress.cursor = after;
  } else if (frame.event !== 'hello' || after !== progress.cursor)
    throw answerInvalid('the stream begins at another cursor than the one asked for');
  if (progress.lost) options.onConnection?.(null);
  progress.lost = false;
};

/** The event of a frame, or null when it came before. */
const take = (frame: Frame, { cursorOf, contiguous }: Source, progress: Progress): OrreryEvent | null => {
  const event = parse(frame) as unknown as OrreryEvent;
  const cursor = cursorOf(event);
  if (typeof cursor !== 'number' || typeof event.body !== 'object') throw answerInvalid('an event has no cursor');
  if (cursor <= progress.cursor) return null;
  if (contiguous && cursor !== progress.cursor + 1) throw answerInvalid('events are missing');
  progress.cursor = cursor;
  progress.failures = 0;
  progress.wrongAnswers = 0;
  return event;
};
