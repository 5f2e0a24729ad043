import { describe, expect, it } from 'vitest';
import { STREAM_PAGE_CHARS, STREAM_PAGE_EVENTS, STREAM_PAGES_KEPT } from '../kernel/limits.ts';
import type { EventText, EventTextQuery } from '../store/store.ts';
import { createReplayPages, emptyPageBuffer } from './replay-pages.ts';

/** A log of the node that counts how often it is read. */
const logOf = (bodies: readonly string[]) => {
  const queries: EventTextQuery[] = [];
  const events = bodies.map((json, index): EventText => ({ seq: index + 1, sequence: null, kind: `k${index % 2}`, json }));
  return {
    queries,
    texts: () => events.map(({ json }) => json),
    grow: (json: string): void => void events.push({ seq: events.length + 1, sequence: null, kind: 'k0', json }),
    eventTexts: async (query: EventTextQuery) => {
      queries.push(query);
      let chars = 0;
      const page: EventText[] = [];
      for (const event of events.slice(query.after, query.after + query.limit)) {
        if (chars >= query.chars) break;
        chars += event.json.length;
        page.push(event);
      }
      return page;
    },
  };
};

const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `{"n":${index}}`);

const place = (after: number, types: ReadonlySet<string> | null = null) => ({ owner: null, after, types });

describe('pages of replays', () => {
  it('are read once for readers at the same place, each in its own buffer', async () => {
    const log = logOf(many(STREAM_PAGE_EVENTS * 2));
    const pages = createReplayPages(log);
    const first = await pages.read(place(0), emptyPageBuffer());
    const second = await pages.read(place(0), emptyPageBuffer());
    expect([log.queries.length, first.first, first.last, second.bytes.equals(first.bytes)]).toEqual([
      1,
      1,
      STREAM_PAGE_EVENTS,
      true,
    ]);
    second.bytes.fill(0);
    expect(first.bytes.toString().startsWith('id: 1\ndata: {"n":0}\n\n')).toBe(true);
  });

  it('use the buffer of a reader again, and grow it for a large event', async () => {
    const log = logOf(['"small"', JSON.stringify('ü'.repeat(STREAM_PAGE_CHARS * 3)), '"end"']);
    const pages = createReplayPages(log);
    const buffer = emptyPageBuffer();
    const seen: string[] = [];
    for (let page = await pages.read(place(0), buffer); page.last !== null; page = await pages.read(place(page.last), buffer))
      seen.push(page.bytes.toString());
    expect(seen.join('')).toBe(
      log
        .texts()
        .map((json, index) => `id: ${index + 1}\ndata: ${json}\n\n`)
        .join(''),
    );
  });

  it('hold the frames that were asked for, in order', async () => {
    const text = async (types: ReadonlySet<string> | null): Promise<string> =>
      (await createReplayPages(logOf(many(3))).read(place(1, types), emptyPageBuffer())).bytes.toString();
    expect(await text(null)).toBe('id: 2\ndata: {"n":1}\n\nid: 3\ndata: {"n":2}\n\n');
    expect(await text(new Set(['k0']))).toBe('id: 3\ndata: {"n":2}\n\n');
    expect(await text(new Set(['other']))).toBe('');
  });

  it('are read anew at the end of the log, where more may come', async () => {
    const log = logOf(many(2));
    const pages = createReplayPages(log);
    expect((await pages.read(place(0), emptyPageBuffer())).last).toBe(2);
    log.grow('{}');
    expect((await pages.read(place(0), emptyPageBuffer())).last).toBe(3);
  });

  it('end at their length, and only the newest few are kept', async () => {
    const log = logOf(Array.from({ length: 40 }, () => 'x'.repeat(STREAM_PAGE_CHARS / 2)));
    const pages = createReplayPages(log);
    const lastAfter = async (after: number): Promise<number | null> => (await pages.read(place(after), emptyPageBuffer())).last;
    for (let page = 0; page <= STREAM_PAGES_KEPT; page++) expect(await lastAfter(page * 2)).toBe(page * 2 + 2);
    const reads = log.queries.length;
    expect([await lastAfter(STREAM_PAGES_KEPT * 2), log.queries.length]).toEqual([STREAM_PAGES_KEPT * 2 + 2, reads]);
    expect([await lastAfter(0), log.queries.length]).toEqual([2, reads + 1]);
  });
});
