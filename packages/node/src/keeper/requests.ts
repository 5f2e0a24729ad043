// What a keeper's no means, and which input may be sent to it: the same on every way to a keeper.
import { OrreryError } from '@orrery/protocol/errors';
import type { ErrorCode } from '@orrery/protocol/errors';
import { KeeperRefusal } from './channel.ts';
import { INPUT_BYTES, INPUT_ID_BYTES } from './limits.ts';

const REFUSALS: Record<string, readonly [ErrorCode, string]> = {
  trimmed: ['history_expired', 'This output was taken over before and is gone.'],
  range: ['invalid_input', 'The output is not that long.'],
  'no-input': ['unsupported', 'The program takes no input, or its input was closed.'],
  busy: ['busy', 'Too much input is waiting for the program.'],
  'no-terminal': ['unsupported', 'The program has no terminal.'],
  'not-running': ['conflict', 'The program does not run.'],
  running: ['conflict', 'The program still runs.'],
};

/** A keeper's refusal as an error of the catalogue; anything else as it is. */
export const translateRefusal = (thrown: unknown): unknown => {
  if (!(thrown instanceof KeeperRefusal)) return thrown;
  const [code, message] = REFUSALS[thrown.code] ?? ['internal', `The keeper refused: ${thrown.code}.`];
  return new OrreryError(code, message, { details: { refusal: thrown.code } });
};

/** Throws for an id or an input that no keeper takes. */
export const checkInput = (id: string, bytes: Uint8Array): void => {
  if (!/^[A-Za-z0-9_.:-]+$/.test(id) || id.length > INPUT_ID_BYTES)
    throw new OrreryError('invalid_input', 'The id of an input is not one.', {
      rule: `1 to ${INPUT_ID_BYTES} of A–Z a–z 0–9 . _ : -`,
    });
  if (bytes.length > INPUT_BYTES)
    throw new OrreryError('input_too_large', `An input of ${bytes.length} bytes is too large.`, {
      rule: `At most ${INPUT_BYTES} bytes at once.`,
      fix: 'Split it.',
    });
};
