import { appendFile, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { EnvironmentSetup } from '@orrery/protocol';
import { SETUP_LOG_PAGE_BYTES } from '../kernel/limits.ts';

/** A stretch of the log. */
export type SetupLogPage = {
  readonly text: string;
  readonly offset: number;
  readonly totalBytes: number;
  readonly state: EnvironmentSetup['state'];
};

/** Where an environment's set-up is logged: beside its home, out of reach of its programs. */
export const setupLogFile = (directory: string, id: string): string => join(directory, id, 'setup.log');

/** Adds lines that are no output of a program. */
export const noteInSetupLog = (directory: string, id: string, lines: readonly string[]): Promise<void> =>
  appendFile(setupLogFile(directory, id), lines.map((line) => `── ${line} ──\n`).join(''), { mode: 0o600 });

/** Reads on from an offset, whole characters only; a log that is not there is empty. */
export const readSetupLog = async (asked: {
  readonly directory: string;
  readonly id: string;
  readonly after: number;
  readonly state: SetupLogPage['state'];
}): Promise<SetupLogPage> => {
  const { state, after } = asked;
  const file = await open(setupLogFile(asked.directory, asked.id)).catch(() => null);
  if (file === null) return { text: '', offset: 0, totalBytes: 0, state };
  try {
    const totalBytes = (await file.stat()).size;
    const from = Math.min(after, totalBytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SETUP_LOG_PAGE_BYTES), 0, SETUP_LOG_PAGE_BYTES, from);
    const whole = wholeCharacters(buffer.subarray(0, bytesRead));
    return { text: whole.toString('utf8'), offset: from + whole.length, totalBytes, state };
  } finally {
    await file.close();
  }
};

/** Without the beginning of a character whose rest is not there yet. */
const wholeCharacters = (bytes: Buffer): Buffer => {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return bytes;
    if (byte >= 0xc0) return (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
};
