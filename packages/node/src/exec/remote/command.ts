// One command in a place, to its end.
import { OrreryError } from '@orrery/protocol/errors';
import { ANSWER_BYTES, COMMAND_MS } from './limits.ts';
import type { Place, PlaceCommand } from './place.ts';

/** What a command answered. */
export type PlaceAnswer = { readonly exitCode: number; readonly stdout: Buffer; readonly stderr: string };

/** The error of a connection that broke: nobody knows what became of what was asked. */
export const unreachable = (what: string, cause?: unknown): OrreryError =>
  new OrreryError('backend_unreachable', `The place cannot be reached: ${what}.`, {
    rule: 'A lost connection is not the end of what runs there.',
    fix: 'Once it can be reached again, the work goes on from where it is.',
    cause,
  });

/** The error of a command that failed in a place. */
export const commandFailed = (what: string, { exitCode, stderr }: Pick<PlaceAnswer, 'exitCode' | 'stderr'>): OrreryError =>
  new OrreryError('backend_unavailable', `${what} failed in the place (exit code ${exitCode}): ${stderr.trim().slice(-500)}`, {
    rule: 'A place needs a shell, a writable folder and room on its disk.',
  });

/** Runs a command to its end. Rejects with `backend_unreachable` when the connection broke before it was known. */
export const runInPlace = async (
  place: Place,
  argv: readonly string[],
  { stdin, timeoutMs = COMMAND_MS }: { readonly stdin?: PlaceCommand['stdin']; readonly timeoutMs?: number } = {},
): Promise<PlaceAnswer> => {
  const process = await place.exec({ argv, timeoutMs, ...(stdin === undefined ? {} : { stdin }) });
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const bytes of process.stdio as AsyncIterable<Buffer>) {
      size += bytes.length;
      if (size > ANSWER_BYTES) throw unreachable(`it answered more than ${ANSWER_BYTES} bytes`);
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
  place: Place,
  argv: readonly string[],
  { what, ...options }: { readonly what: string; readonly stdin?: PlaceCommand['stdin']; readonly timeoutMs?: number },
): Promise<Buffer> => {
  const answer = await runInPlace(place, argv, options);
  if (answer.exitCode !== 0) throw commandFailed(what, answer);
  return answer.stdout;
};
