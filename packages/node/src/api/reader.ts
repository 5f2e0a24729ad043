import type { ServerResponse } from 'node:http';
import { setImmediate as aTurn } from 'node:timers/promises';
import type { OrreryEvent } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { LIVE_BACKLOG_BYTES, STREAM_LINGER_MS } from '../kernel/limits.ts';
import { commentFrame, cursorFrame, cursorOf, type FrameBatch, type Numbering } from './frames.ts';
import { createShown, type LiveRow } from './live-frames.ts';
import { emptyPageBuffer, type PageBuffer, type ReplayPage } from './replay-pages.ts';

/** One open stream: a response, a cursor, and what it wants. */
export type Reader = {
  readonly cursor: number;
  /** Writes the events of a commit that lie above the cursor; while a replay runs it only notes that there are some. */
  deliver(batch: FrameBatch): void;
  /** Replays from the cursor until nothing is missing, then goes live. Resolves at once when the reader leaves. */
  replay(source: ReplaySource): Promise<void>;
  /** Shows what is being written and is not stored, as far as this reader has not seen it; left for later while it takes nothing. */
  showLive(rows: readonly LiveRow[]): void;
  keepAlive(): void;
  /** Ends the stream and says why in a comment. */
  end(reason: string): void;
};

export type ReplaySource = {
  /** The events above a cursor, at most a page, in the reader's own buffer. */
  page(after: number, types: ReadonlySet<string> | null, buffer: PageBuffer): Promise<ReplayPage>;
  /** The newest cursor there is. */
  newest(): Promise<number>;
  /** The newest seq of the node. */
  seq(): number;
};

export type ReaderParts = {
  readonly response: ServerResponse;
  readonly numbering: Numbering;
  readonly after: number;
  readonly types: ReadonlySet<string> | null;
  readonly bufferBytes: number;
  readonly stallMs: number;
  /** Called when a reader that took nothing for a while takes something again. */
  readonly onDrain?: () => void;
  /** Called once when the reader has left or was cut; `slow` when it did not keep up. */
  readonly onEnd: (end: { readonly slow: boolean; readonly cursor: number }) => void;
};

export const createReader = (parts: ReaderParts): Reader => {
  const { response, numbering, types } = parts;
  let cursor = parts.after;
  let live = false;
  let missed = false;
  let ended = false;
  let wroteSinceKeepAlive = false;
  /** Lets the replay go on, which waits for what it wrote last. */
  let goOn = (): void => undefined;

  const finish = (slow: boolean): boolean => {
    if (ended) return false;
    ended = true;
    goOn();
    parts.onEnd({ slow, cursor });
    return true;
  };
  response.on('close', () => finish(false));
  response.on('error', () => finish(false));
  if (parts.onDrain !== undefined) response.on('drain', parts.onDrain);

  const end = (reason: string, slow = false): void => {
    if (!finish(slow)) return;
    response.end(commentFrame(`${reason}; cursor ${cursor}`));
    // A reader that takes nothing never takes the end either.
    setTimeout(() => response.destroy(), STREAM_LINGER_MS).unref();
  };
  const shown = createShown();
  const wanted = (event: OrreryEvent): boolean => types === null || types.has(event.body.kind);
  const write = (chunk: Buffer | string, sent?: () => void): void => {
    wroteSinceKeepAlive = true;
    response.write(chunk, sent);
  };

  const deliver = (batch: FrameBatch): void => {
    if (ended) return;
    if (!live) {
      missed = true;
      return;
    }
    const from = batch.events.findIndex((event) => (cursorOf(event, numbering) ?? 0) > cursor);
    if (from === -1) return;
    const chunk = types === null ? batch.all(from) : batch.frames(from, wanted);
    if (response.writableLength + chunk.length > parts.bufferBytes) {
      // Cut before this batch: what was written up to the cursor is whole, and the reader comes back for the rest.
      end('too slow', true);
      return;
    }
    cursor = cursorOf(batch.events.at(-1)!, numbering) ?? cursor;
    if (chunk.length > 0) write(chunk);
  };

  /** Writes a chunk and waits until the reader has taken it; one that takes nothing for too long is cut. */
  const send = async (chunk: Buffer): Promise<void> => {
    const stall = setTimeout(() => end('too slow', true), parts.stallMs);
    await new Promise<void>((resolve) => {
      goOn = resolve;
      write(chunk, resolve);
    });
    clearTimeout(stall);
  };

  const replay = async (source: ReplaySource): Promise<void> => {
    const buffer = emptyPageBuffer();
    let page = await greet(source, buffer);
    while (!ended) {
      if (page.last !== null) {
        cursor = page.last;
        // Others have their turn after each page, also when the reader wants nothing of it.
        await (page.bytes.length > 0 ? send(page.bytes) : aTurn());
        if (ended) return;
      }
      // Commits that were told while this page is read are in it or set the mark: nothing falls between.
      missed = false;
      page = await source.page(cursor, types, buffer);
      if (page.last === null && !missed) {
        live = true;
        return;
      }
    }
  };

  /** Writes the first frame and answers the first page. */
  const greet = async (source: ReplaySource, buffer: PageBuffer): Promise<ReplayPage> => {
    const page = await source.page(cursor, types, buffer);
    const newest = await source.newest();
    const ahead = page.last === null && cursor > newest;
    const expired = page.first !== null && page.first > cursor + 1;
    if (ahead) cursor = newest;
    if (page.first !== null && expired) cursor = page.first - 1;
    write(cursorFrame(ahead || expired ? 'reset' : 'hello', { after: cursor, seq: source.seq() }));
    return page;
  };

  return {
    get cursor() {
      return cursor;
    },
    deliver,
    replay,
    showLive: (rows) => {
      if (ended || !live || response.writableLength > LIVE_BACKLOG_BYTES) return;
      const frames = shown.frames(rows);
      if (frames !== '') write(frames);
    },
    end,
    keepAlive: () => {
      if (ended) return;
      if (!wroteSinceKeepAlive) response.write(commentFrame('still here'));
      wroteSinceKeepAlive = false;
    },
  };
};

/** What is said when the node has as many readers as it serves. */
export const tooManyReaders = (limit: number): OrreryError =>
  new OrreryError('limit_reached', 'The node serves as many event streams as it can.', {
    rule: `It serves at most ${limit}.`,
    fix: 'Close other readers, then try again.',
  });
