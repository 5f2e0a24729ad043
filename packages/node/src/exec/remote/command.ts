// One command in a place, to its end.
import { OrreryError, toOrreryError } from '@orrery/protocol/errors';
import { ANSWER_BYTES, COMMAND_MS } from './limits.ts';
import type { Place, PlaceCommand, PlaceProcess } from './place.ts';

/** What a command answered. */
export type PlaceAnswer = { readonly exitCode: number; readonly stdout: Buffer; readonly stderr: string };

/** How a command is run: what it is fed, how long it may take, and how long its answer may be. */
export type CommandOptions = {
  readonly stdin?: PlaceCommand['stdin'];
  readonly timeoutMs?: number;
  readonly answerBytes?: number;
};

const tooLong = (bytes: number): OrreryError =>
  new OrreryError('input_too_large', `A command in the place answered more than ${bytes} bytes.`, {
    rule: 'What comes out of a place is bounded.',
  });

/** The error of a connection that broke: nobody knows what became of what was asked. */
export const unreachable = (what: string, cause?: unknown): OrreryError =>
  new OrreryError('backend_unreachable', `The place cannot be reached: ${what}.`, {
    rule: 'A lost connection is not the end of what runs there.',
    fix: 'Once it can be reached again, the work goes on from where it is.',
    cause,
  });

/**
 * What keeps the node from a place that was made says nothing about what is there, a refused login and a missing
 * configuration no more than a cut line: so what runs is waited for, and the error says what a person can do meanwhile.
 */
export const nobodyCanTell = (thrown: unknown): OrreryError => {
  const error = toOrreryError(thrown);
  if (error.code === 'backend_unreachable') return error;
  const { message, rule, fix, details } = error;
  return new OrreryError('backend_unreachable', message, {
    ...(rule === null ? {} : { rule }),
    ...(fix === null ? {} : { fix }),
    ...(details === null ? {} : { details }),
    cause: error,
  });
};

/** The error of a command that failed in a place. */
export const commandFailed = (what: string, { exitCode, stderr }: Pick<PlaceAnswer, 'exitCode' | 'stderr'>): OrreryError =>
  new OrreryError('backend_unavailable', `${what} failed in the place (exit code ${exitCode}): ${stderr.trim().slice(-500)}`, {
    rule: 'A place needs a shell, a writable folder and room on its disk.',
  });

/** Starts a command; whatever keeps it from being started is an error of the catalogue. */
export const startInPlace = async (place: Pick<Place, 'exec'>, command: PlaceCommand): Promise<PlaceProcess> => {
  try {
    return await place.exec(command);
  } catch (thrown) {
    throw thrown instanceof OrreryError ? thrown : unreachable('no command can be started there', thrown);
  }
};

/** Runs a command to its end. Rejects with `backend_unreachable` when the connection broke before it was known. */
export const runInPlace = async (
  place: Pick<Place, 'exec'>,
  argv: readonly string[],
  { stdin, timeoutMs = COMMAND_MS, answerBytes = ANSWER_BYTES }: CommandOptions = {},
): Promise<PlaceAnswer> => {
  const process = await startInPlace(place, { argv, timeoutMs, ...(stdin === undefined ? {} : { stdin }) });
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const bytes of process.stdio as AsyncIterable<Buffer>) {
      size += bytes.length;
      if (size > answerBytes) throw tooLong(answerBytes);
      parts.push(bytes);
    }
  } catch (thrown) {
    process.close();
    if (thrown instanceof OrreryError) throw thrown;
    throw unreachable('its answer broke off', thrown);
  }
  const ended = await process.ended;
  if ('lost' in ended) throw unreachable(ended.lost);
  return { exitCode: ended.exitCode, stdout: Buffer.concat(parts), stderr: process.stderr() };
};

/** The same for a command that must succeed; `what` names it for people. */
export const mustRun = async (
  place: Pick<Place, 'exec'>,
  argv: readonly string[],
  { what, ...options }: CommandOptions & { readonly what: string },
): Promise<Buffer> => {
  const answer = await runInPlace(place, argv, options);
  if (answer.exitCode !== 0) throw commandFailed(what, answer);
  return answer.stdout;
};
