import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { OrreryEvent } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { STREAM_LINGER_MS } from '../kernel/limits.ts';
import { commentFrame, cursorFrame, cursorOf, eventFrame, type FrameBatch, type Numbering } from './frames.ts';

/** One open stream: a response, a cursor, and what it wants. */
export type Reader = {
  readonly cursor: number;
  /** Writes the events of a commit that lie above the cursor; while a replay runs it only notes that there are some. */
  deliver(batch: FrameBatch): void;
  /** Replays from the cursor until nothing is missing, then goes live. Resolves at once when the reader leaves. */
  replay(source: ReplaySource): Promise<void>;
  keepAlive(): void;
  /** Ends the stream and says why in a comment. */
  end(reason: string): void;
};

export type ReplaySource = {
  /** The events above a cursor, at most a page. */
  page(after: number): Promise<readonly OrreryEvent[]>;
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

  const finish = (slow: boolean): boolean => {
    if (ended) return false;
    ended = true;
    parts.onEnd({ slow, cursor });
    return true;
  };
  response.on('close', () => finish(false));
  response.on('error', () => finish(false));

  const end = (reason: string, slow = false): void => {
    if (!finish(slow)) return;
    response.end(commentFrame(`${reason}; cursor ${cursor}`));
    // A reader that takes nothing never takes the end either.
    setTimeout(() => response.destroy(), STREAM_LINGER_MS).unref();
  };
  const wanted = (event: OrreryEvent): boolean => types === null || types.has(event.body.kind);
  const write = (chunk: Buffer | string): boolean => {
    wroteSinceKeepAlive = true;
    return response.write(chunk);
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

  /** Waits until the reader has taken what was written; a reader that takes nothing for too long is cut. */
  const drained = async (): Promise<void> => {
    const waiting = new AbortController();
    const stall = setTimeout(() => end('too slow', true), parts.stallMs);
    const options = { signal: waiting.signal };
    await Promise.race([once(response, 'drain', options), once(response, 'close', options)]).catch(() => undefined);
    clearTimeout(stall);
    waiting.abort();
  };

  const replay = async (source: ReplaySource): Promise<void> => {
    let page = await greet(source);
    while (!ended) {
      const last = page.at(-1);
      if (last !== undefined) {
        const text = page
          .filter(wanted)
          .map((event) => eventFrame(event, numbering))
          .join('');
        cursor = cursorOf(last, numbering) ?? cursor;
        if (text !== '' && !write(text)) await drained();
        if (ended) return;
      }
      // Commits that were told while this page is read are in it or set the mark: nothing falls between.
      missed = false;
      page = await source.page(cursor);
      if (page.length === 0 && !missed) {
        live = true;
        return;
      }
    }
  };

  /** Writes the first frame and answers the first page. */
  const greet = async (source: ReplaySource): Promise<readonly OrreryEvent[]> => {
    const page = await source.page(cursor);
    const first = page[0] === undefined ? null : cursorOf(page[0], numbering);
    const newest = await source.newest();
    const ahead = page.length === 0 && cursor > newest;
    const expired = first !== null && first > cursor + 1;
    if (ahead) cursor = newest;
    if (expired) cursor = first - 1;
    write(cursorFrame(ahead || expired ? 'reset' : 'hello', { after: cursor, seq: source.seq() }));
    return page;
  };

  return {
    get cursor() {
      return cursor;
    },
    deliver,
    replay,
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
