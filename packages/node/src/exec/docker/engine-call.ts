// How every call to an engine is made: with a deadline, its failures in the node's words, its answer checked.
import type { Readable } from 'node:stream';
import { OrreryError } from '@orrery/protocol/errors';
import type { z } from 'zod';
import { systemClock } from '../../kernel/clock.ts';
import { withDeadline } from '../../kernel/deadline.ts';
import { engineError, engineUnreachable, statusOf } from './engine-error.ts';
import { ENGINE_CALL_MS } from './limits.ts';
import { eventSchema, progressSchema } from './wire.ts';
import type { EngineEvent } from './wire.ts';

/** Something with labels. */
export type Labelled = { readonly id: string; readonly labels: Readonly<Record<string, string>> };

/** Makes one call. It has to end within its time. */
export const call = async <T>(what: string, work: (signal: AbortSignal) => Promise<T>, ms = ENGINE_CALL_MS): Promise<T> => {
  try {
    return await withDeadline({ name: what, ms }, systemClock, work);
  } catch (thrown) {
    if (thrown instanceof OrreryError && thrown.code === 'deadline') throw engineUnreachable(what, thrown);
    throw engineError(what, thrown);
  }
};

/** The answer, or null for one of these HTTP states. */
export const orNull = async <T>(work: Promise<T>, ...states: number[]): Promise<T | null> => {
  try {
    return await work;
  } catch (thrown) {
    const status = statusOf(thrown);
    if (status !== null && states.includes(status)) return null;
    throw thrown;
  }
};

/** The answer as the schema has it, or `answer_invalid`. */
export const parse = <T extends z.ZodType>(schema: T, answer: unknown): z.output<T> => {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  throw new OrreryError('answer_invalid', 'The container engine answered in a way that is not understood.', {
    rule: 'Docker 20.10 or later, or Podman 4 or later.',
    details: { at: parsed.error.issues[0]?.path.join('.') ?? '' },
  });
};

const linesOf = async (stream: Readable, take: (line: string) => void): Promise<void> => {
  let rest = '';
  for await (const part of stream) {
    const lines = (rest + String(part)).split('\n');
    rest = lines.pop() ?? '';
    lines.forEach(take);
  }
  take(rest);
};

/** Reads events until their stream ends. */
export const followEvents = (stream: Readable, onEvent: (event: EngineEvent) => void): Promise<void> =>
  linesOf(stream, (line) => (line.trim() === '' ? undefined : onEvent(parse(eventSchema, JSON.parse(line)))));

/** Reads progress to its end; an error in it is thrown, since the engine answers 200 before it knows. */
export const follow = async (stream: NodeJS.ReadableStream, progress: (line: string) => void): Promise<void> => {
  await linesOf(stream as Readable, (line) => {
    if (line.trim() === '') return;
    const { stream: text, status, error } = parse(progressSchema, JSON.parse(line));
    if (error !== undefined) throw new OrreryError('backend_unavailable', `The container engine says: ${error.slice(0, 500)}`);
    const shown = (text ?? status ?? '').trimEnd();
    if (shown !== '') progress(shown);
  });
};
