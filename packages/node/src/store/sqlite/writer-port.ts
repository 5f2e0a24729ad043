import { Worker } from 'node:worker_threads';
import { OrreryError } from '@orrery/protocol/errors';
import { fromFault } from './faults.ts';
import type { FromWriter, Request, Result, ToWriter, WriterSettings } from './messages.ts';

/** The node's end of the writer thread. */
export type WriterPort = {
  /** The newest seq when the store was opened. */
  readonly seq: number;
  /** Sends requests that run in order and answers their results. Rejects only when the writer is gone. */
  send(requests: readonly Request[]): Promise<readonly Result[]>;
  /** Resolves when the writer ended although nobody closed it; never otherwise. */
  readonly lost: Promise<OrreryError>;
  /** Closes the database and ends the thread. */
  close(): Promise<void>;
};

const gone = (cause: unknown): OrreryError =>
  new OrreryError('internal', 'The writer of the store ended.', {
    rule: 'A node without its store stops.',
    fix: 'Start the node again.',
    cause,
  });

// Sources run as they are; packed, the same file is JavaScript beside this one.
const writerFile = (): URL => new URL(import.meta.url.endsWith('.ts') ? './writer.ts' : './writer.js', import.meta.url);

/** Starts the writer over a database file; rejects with `schema_newer`, `store_damaged`, `disk_full` … when it cannot be used. */
export const startWriter = async (settings: WriterSettings): Promise<WriterPort> => {
  const worker = new Worker(writerFile(), { workerData: settings, name: 'orrery-store', execArgv: [] });
  const waiting = new Map<number, PromiseWithResolvers<readonly Result[]>>();
  const opened = Promise.withResolvers<number>();
  const ended = Promise.withResolvers<void>();
  const unasked = Promise.withResolvers<OrreryError>();
  let closing = false;
  let lost: OrreryError | null = null;
  let lastId = 0;

  const lose = (cause: unknown): void => {
    lost ??= gone(cause);
    opened.reject(lost);
    if (!closing) unasked.resolve(lost);
    for (const one of waiting.values()) one.reject(lost);
    waiting.clear();
    ended.resolve();
  };
  worker.on('message', (message: FromWriter) => {
    if (message.kind === 'opened') opened.resolve(message.seq);
    else if (message.kind === 'refused') opened.reject(fromFault(message.fault));
    else {
      waiting.get(message.id)?.resolve(message.results);
      waiting.delete(message.id);
    }
  });
  worker.on('error', lose);
  worker.on('exit', (code) => lose(new Error(`exit ${code}`)));

  const send = (requests: readonly Request[]): Promise<readonly Result[]> => {
    if (lost !== null) return Promise.reject(lost);
    const id = ++lastId;
    const answered = Promise.withResolvers<readonly Result[]>();
    waiting.set(id, answered);
    worker.postMessage({ id, requests } satisfies ToWriter);
    return answered.promise;
  };
  const seq = await opened.promise;
  const close = async (): Promise<void> => {
    closing = true;
    if (lost === null) await send([{ kind: 'close' }]);
    await ended.promise;
  };
  return { seq, send, close, lost: unasked.promise };
};
