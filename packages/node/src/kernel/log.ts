import { closeSync, existsSync, fchmodSync, fstatSync, openSync, renameSync, unlinkSync, writeSync } from 'node:fs';
import { toOrreryError } from '@orrery/protocol/errors';
import type { Clock } from './clock.ts';
import { LOG_FILE_BYTES, LOG_FILES, LOG_TEXT_CHARS } from './limits.ts';

/** Levels, the quietest last. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Fields of a line: ids, counts, durations, codes and paths. Never prompts, file contents, answers of models or secrets. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** A content-free log. `event` is a fixed word of the code (`store.commit.failed`), never composed from outside text. */
export type Log = {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
  /** The same log with fields added to each line. */
  with(fields: LogFields): Log;
};

/** Where lines go; the file is one, a test's array another. */
export type LogSink = { write(line: string): void; close(): void };

const clip = (value: LogFields[string]): LogFields[string] =>
  typeof value === 'string' && value.length > LOG_TEXT_CHARS ? `${value.slice(0, LOG_TEXT_CHARS)}…` : value;

/** Makes a log of JSON lines: `at`, `level`, `event`, then the fields. Logging never throws and never rejects. */
export const createLog = ({
  sink,
  clock,
  level = 'info',
}: {
  sink: LogSink;
  clock: Pick<Clock, 'nowMs'>;
  level?: LogLevel;
}): Log => {
  const lowest = logLevels.indexOf(level);
  const make = (common: LogFields): Log => {
    const write =
      (at: LogLevel) =>
      (event: string, fields: LogFields = {}) => {
        if (logLevels.indexOf(at) < lowest) return;
        const line: Record<string, LogFields[string]> = { at: new Date(clock.nowMs()).toISOString(), level: at, event };
        for (const [name, value] of [...Object.entries(common), ...Object.entries(fields)]) line[name] = clip(value);
        try {
          sink.write(`${JSON.stringify(line)}\n`);
        } catch {
          // A full disk must not end the work that was being logged.
        }
      };
    return {
      debug: write('debug'),
      info: write('info'),
      warn: write('warn'),
      error: write('error'),
      with: (fields) => make({ ...common, ...fields }),
    };
  };
  return make({});
};

/** What may be logged of something thrown: its code and kind, and where, but no message (it may quote outside text). */
export const errorFields = (thrown: unknown): LogFields => {
  const code = toOrreryError(thrown).code;
  const name = thrown instanceof Error ? thrown.name : typeof thrown;
  const system =
    typeof thrown === 'object' && thrown !== null && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : null;
  const place = thrown instanceof Error ? (/\n\s+at (.*)/.exec(thrown.stack ?? '')?.[1] ?? null) : null;
  return { code, error: name, system: system === code ? null : system, place };
};

/**
 * Appends lines to `path` (mode 0600). When a line would pass `maxBytes` the file becomes `path.1`, `path.1` becomes
 * `path.2` …, and at most `files` old ones are kept. Each line is written before the call returns.
 */
export const openLogFile = ({
  path,
  maxBytes = LOG_FILE_BYTES,
  files = LOG_FILES,
}: {
  path: string;
  maxBytes?: number;
  files?: number;
}): LogSink => {
  let descriptor = openAppend(path);
  let size = fstatSync(descriptor).size;
  const rotate = (): void => {
    closeSync(descriptor);
    if (existsSync(`${path}.${files}`)) unlinkSync(`${path}.${files}`);
    for (let n = files - 1; n >= 1; n--) if (existsSync(`${path}.${n}`)) renameSync(`${path}.${n}`, `${path}.${n + 1}`);
    renameSync(path, `${path}.1`);
    descriptor = openAppend(path);
    size = 0;
  };
  return {
    write: (line) => {
      const bytes = Buffer.from(line);
      if (size > 0 && size + bytes.length > maxBytes) rotate();
      writeSync(descriptor, bytes);
      size += bytes.length;
    },
    close: () => closeSync(descriptor),
  };
};

const openAppend = (path: string): number => {
  const descriptor = openSync(path, 'a', 0o600);
  fchmodSync(descriptor, 0o600);
  return descriptor;
};
