import { appendFileSync, openSync, closeSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import type { Step } from './script.ts';

/** One request the server got. `call` and `step` are there for model calls only. */
export type CallRecord = {
  /** Epoch milliseconds at which the request had been read. */
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The body as text, cut at 64 KiB. */
  readonly body: string;
  readonly bodyBytes: number;
  readonly wire?: string;
  readonly call?: {
    readonly model: string;
    readonly stream: boolean;
    readonly effort?: string;
    readonly tools: readonly string[];
    readonly roles: readonly string[];
    readonly opening: string;
    readonly last: string;
  };
  /** The named script the step came from; `""` is the common one. */
  readonly script?: string;
  readonly step?: Step | 'default';
};

/** Requests that are remembered; older ones are forgotten. */
export const KEPT_CALLS = 1_000;
/** Bytes of a body, and characters of a text, that are remembered. */
export const KEPT_BODY_BYTES = 64 * 1024;

/** The last calls, newest last. */
export type CallLog = {
  add(record: CallRecord): void;
  list(): readonly CallRecord[];
  /** Calls seen since the start or the last reset, forgotten ones too. */
  total(): number;
  forget(): void;
  close(): void;
};

/**
 * A log in memory, and in a file of JSON lines when one is named. Headers are kept as they came: this server is given
 * made-up keys only. The file is readable by its owner alone.
 */
export function createCallLog(file?: string): CallLog {
  let records: CallRecord[] = [];
  let total = 0;
  const descriptor = file === undefined ? undefined : openSync(file, 'a', 0o600);
  return {
    add(record) {
      total += 1;
      records.push(record);
      if (records.length > KEPT_CALLS) records.shift();
      if (descriptor !== undefined) appendFileSync(descriptor, `${JSON.stringify(record)}\n`);
    },
    list: () => [...records],
    total: () => total,
    forget() {
      records = [];
      total = 0;
    },
    close() {
      if (descriptor !== undefined) closeSync(descriptor);
    },
  };
}
