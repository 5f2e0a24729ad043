// A replay goes from rows to the wire as bytes. Its buffers are used again and again: what waited for the collector while
// many readers catch up would be most of the node's memory, and V8 keeps what it once had.
import { STREAM_PAGE_CHARS, STREAM_PAGE_EVENTS, STREAM_PAGES_KEPT } from '../kernel/limits.ts';
import type { EventText, Store } from '../store/store.ts';
import { cursorOf, eventFrame, type Numbering } from './frames.ts';

/** Where a reader is, and what it wants. */
export type ReplayPlace = {
  /** Null: the node. */
  readonly owner: string | null;
  readonly after: number;
  /** Kinds of events; null: all. */
  readonly types: ReadonlySet<string> | null;
};

/** A page of frames. `bytes` lies in the buffer of the reader that asked. */
export type ReplayPage = {
  /** Cursors of the events that were read, wanted or not; null when there are none. */
  readonly first: number | null;
  readonly last: number | null;
  readonly bytes: Buffer;
};

/** What one reader's pages lie in, one after the other; it grows for a large event. */
export type PageBuffer = { bytes: Buffer };

export type ReplayPages = {
  /** Reads the next page into the reader's buffer, which must be sent by then. Readers at the same place share the reading. */
  read(place: ReplayPlace, buffer: PageBuffer): Promise<ReplayPage>;
  /** Something was taken out of the log: what was read before is read anew. */
  forget(): void;
};

/** The buffer of a reader that has not read yet. */
export const emptyPageBuffer = (): PageBuffer => ({ bytes: Buffer.alloc(0) });

type Frame = { readonly cursor: number; readonly kind: string; readonly start: number; readonly end: number };
type SharedPage = { key: string; bytes: Buffer; frames: readonly Frame[] };

export const createReplayPages = (store: Pick<Store, 'eventTexts'>): ReplayPages => {
  const kept: SharedPage[] = [];
  return {
    forget: () => void kept.splice(0),
    read: async ({ owner, after, types }, buffer) => {
      const key = `${owner ?? ''} ${after}`;
      const known = kept.find((page) => page.key === key);
      if (known !== undefined) return copyPage(known, types, buffer);
      const events = await store.eventTexts({ owner, after, limit: STREAM_PAGE_EVENTS, chars: STREAM_PAGE_CHARS });
      // From here to the copy nobody else has a turn: the buffer of the oldest page is written anew.
      const page = (kept.length < STREAM_PAGES_KEPT ? undefined : kept.shift()) ?? { key, bytes: Buffer.alloc(0), frames: [] };
      fillPage(page, events, owner === null ? 'seq' : 'sequence');
      const chars = events.reduce((sum, { json }) => sum + json.length, 0);
      const full = events.length === STREAM_PAGE_EVENTS || chars >= STREAM_PAGE_CHARS;
      // The log only grows, unless a session is deleted: a page that is full stays what it is. One of a large event is not worth its memory.
      page.key = full ? key : '';
      if (chars < 2 * STREAM_PAGE_CHARS) kept.push(page);
      return copyPage(page, types, buffer);
    },
  };
};

const fillPage = (page: SharedPage, events: readonly EventText[], numbering: Numbering): void => {
  const texts = events.map((event) => eventFrame(cursorOf(event, numbering), event.json));
  page.bytes = atLeast(
    page.bytes,
    texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0),
  );
  let end = 0;
  page.frames = events.map((event, index) => {
    const start = end;
    end += page.bytes.write(texts[index] ?? '', start);
    return { cursor: cursorOf(event, numbering) ?? 0, kind: event.kind, start, end };
  });
};

const copyPage = ({ bytes, frames }: SharedPage, types: ReadonlySet<string> | null, buffer: PageBuffer): ReplayPage => {
  const wanted = types === null ? frames : frames.filter(({ kind }) => types.has(kind));
  buffer.bytes = atLeast(
    buffer.bytes,
    wanted.reduce((sum, { start, end }) => sum + end - start, 0),
  );
  let length = 0;
  for (const { start, end } of wanted) length += bytes.copy(buffer.bytes, length, start, end);
  return {
    first: frames[0]?.cursor ?? null,
    last: frames.at(-1)?.cursor ?? null,
    bytes: buffer.bytes.subarray(0, length),
  };
};

/** The buffer itself when it is large enough; never a part of a pool that others' buffers share. */
const atLeast = (bytes: Buffer, length: number): Buffer =>
  bytes.length >= length ? bytes : Buffer.allocUnsafeSlow(Math.max(length, STREAM_PAGE_CHARS));
