// Glossary. A speaker tells one program of a stage what its consumer has to say: lines that are stored already, each
// written once, whichever start of the node comes to it. It also ends a program whose turn is over.

import { OrreryError } from '@orrery/protocol';
import type { Handle } from '../exec/backend.ts';
import type { SpokenLine, Speech } from '../harness/harness.ts';
import { TURN_CLOSE_MS } from '../kernel/limits.ts';
import type { AttemptContext } from './attempt-context.ts';
import { stopProgram } from './stop.ts';

export type Speaker = {
  /** Everything that is to be said by now is stored: it is written. Not waited for, since who reads must go on reading. */
  say(): void;
  /** The turn is over: no more is said, stdin is closed, and a program that does not end then is ended. Repeatable. */
  close(): void;
  /** The program has ended. */
  over(): void;
  /** Rejects when something could not be written for another reason than the program's end. */
  readonly failed: Promise<never>;
};

export type SpeakerOptions = {
  readonly context: AttemptContext;
  readonly handle: Handle;
  /** For the log and the crash tests. */
  readonly stage: string;
  /** Absent: there is nothing to say, only to close. */
  readonly speech: Speech | undefined;
};

export const createSpeaker = (options: SpeakerOptions): Speaker => {
  const { context, handle, speech } = options;
  const { promise: failed, reject } = Promise.withResolvers<never>();
  const ended = new AbortController();
  let writes: Promise<void> = Promise.resolve();
  let closed = false;
  const then = (work: () => Promise<void>): void => {
    writes = writes.then(work).catch((thrown: unknown) => {
      if (!ended.signal.aborted && !isEnd(thrown)) reject(thrown as Error);
    });
  };
  return {
    failed,
    say: () => {
      // As it stands now: what is said after this is not stored yet.
      const lines = speech?.outbox() ?? [];
      if (speech !== undefined && lines.length > 0) then(() => writeLines({ ...options, speech }, lines));
    },
    close: () => {
      if (closed) return;
      closed = true;
      then(() => handle.closeInput());
      endLate(context, handle, ended.signal).catch((thrown: unknown) => {
        if (!ended.signal.aborted && !isEnd(thrown)) reject(thrown as Error);
      });
    },
    over: () => ended.abort(),
  };
};

/** What is asked of a program that has ended meanwhile: its end tells more. */
const isEnd = (thrown: unknown): boolean =>
  thrown instanceof OrreryError && ['conflict', 'unsupported', 'keeper_lost'].includes(thrown.code);

const writeLines = async (
  { context, handle, speech, stage }: SpeakerOptions & { readonly speech: Speech },
  lines: readonly SpokenLine[],
): Promise<void> => {
  for (const { key, text } of lines) {
    if (!speech.outbox().some((line) => line.key === key)) continue;
    // The keeper knows each by its name, and does not write it again.
    const { state } = await handle.write(key, new TextEncoder().encode(text));
    context.parts.atKillPoint('input-written', stage);
    if (state !== 'written') return;
    speech.wrote(key);
  }
};

const endLate = async (context: AttemptContext, handle: Handle, ended: AbortSignal): Promise<void> => {
  await context.parts.clock.sleep(TURN_CLOSE_MS, AbortSignal.any([ended, context.detached])).catch(() => undefined);
  if (!ended.aborted && !context.detached.aborted) await stopProgram(context, handle, ended);
};
