import type { EventBody, OrreryEvent, TranscriptPage } from '@orrery/protocol';
import { describe, expect, it } from 'vitest';
import { keepTranscript, withLive, type TranscriptKeeper } from './transcript.ts';

const event = (sequence: number, body: EventBody): OrreryEvent => ({
  seq: sequence + 100,
  at: '2026-01-01T00:00:00.000Z',
  taskId: null,
  sessionId: 'ses_1',
  sequence,
  turn: 1,
  body,
});
const text = (sequence: number, row: string, words: string): OrreryEvent => event(sequence, { kind: 'text', row, text: words });
const page = (events: readonly OrreryEvent[], more: Partial<TranscriptPage> = {}): TranscriptPage => ({
  items: events.map((one) => ({ firstSequence: one.sequence ?? 0, event: one })),
  nextCursor: null,
  sequence: Math.max(0, ...events.map(({ sequence }) => sequence ?? 0)),
  seq: 1,
  ...more,
});
const shown = (kept: TranscriptKeeper): string[] =>
  kept.now().rows.map(({ event: { body } }) => (body.kind === 'text' ? body.text : body.kind));
const of = (...steps: readonly (readonly OrreryEvent[])[]): TranscriptKeeper => {
  const kept = keepTranscript();
  steps.forEach(kept.events);
  return kept;
};

/** A page as the node answers it: the newest revision of each row, at the place where it stood first. */
const pageOf = (
  log: readonly OrreryEvent[],
  { limit, before = Infinity }: { limit: number; before?: number },
): TranscriptPage => {
  const rows = new Map<string, TranscriptPage['items'][number]>();
  for (const one of log) {
    const key = one.body.kind === 'text' ? one.body.row : '';
    rows.set(key, { firstSequence: rows.get(key)?.firstSequence ?? one.sequence ?? 0, event: one });
  }
  const all = [...rows.values()].filter(({ firstSequence }) => firstSequence < before);
  const items = all.slice(-limit);
  const nextCursor = all.length > limit ? String(items[0]?.firstSequence) : null;
  return { items, nextCursor, sequence: log.length, seq: 1 };
};

describe('a transcript', () => {
  it('has a row once, in its newest revision, where it came first', () => {
    expect(shown(of([text(1, 'a', 'one'), text(2, 'b', 'two'), text(3, 'a', 'one and more')]))).toEqual(['one and more', 'two']);
  });

  it('is the same however its events come, also when some come twice', () => {
    const all = [text(1, 'a', 'one'), text(2, 'b', 'two'), text(3, 'a', 'three')];
    expect(of(all.slice(0, 2), all.slice(1)).now()).toEqual(of(all).now());
  });

  it('leaves out what is shown elsewhere on the page', () => {
    expect(shown(of([event(1, { kind: 'state', state: 'idle', reason: null }), text(2, 'a', 'one')]))).toEqual(['one']);
  });

  it('is read from its end, page by page to its beginning, while it goes on', () => {
    const kept = keepTranscript();
    kept.page(page([text(5, 'e', 'five'), text(6, 'f', 'six')], { nextCursor: '5' }));
    expect(kept.now().older).toBe('5');
    kept.events([text(6, 'f', 'six again'), text(7, 'e', 'five, longer'), text(8, 'g', 'eight')]);
    kept.page(page([text(3, 'c', 'three'), text(4, 'd', 'four')], { nextCursor: '3', sequence: 8 }));
    kept.events([text(9, 'd', 'four, longer')]);
    kept.page(page([text(1, 'a', 'one')], { sequence: 9 }));
    expect(shown(kept)).toEqual(['one', 'three', 'four, longer', 'five, longer', 'six', 'eight']);
    expect([kept.now().older, kept.newest()]).toEqual([null, 9]);
  });

  it('comes to the same whenever its pages are read, and however its events come', () => {
    // Rows are revised at random; the numbers make each case the same each time.
    const log = Array.from({ length: 60 }, (_, at) => text(at + 1, `row ${(at * 7) % 23}`, `at ${at + 1}`));
    const whole = shown(of(log));
    for (let opened = 0; opened <= log.length; opened += 3) {
      const kept = keepTranscript();
      kept.page(pageOf(log.slice(0, opened), { limit: 4 }));
      for (let at = opened; at < log.length; at += 5) {
        kept.events(log.slice(Math.max(0, at - 2), at + 5));
        const { older } = kept.now();
        if (at % 2 === 0 && older !== null) kept.page(pageOf(log.slice(0, at), { limit: 3, before: Number(older) }));
      }
      for (let { older } = kept.now(); older !== null; { older } = kept.now())
        kept.page(pageOf(log, { limit: 3, before: Number(older) }));
      expect(shown(kept)).toEqual(whole);
    }
  });

  it('puts a row whose place was not read yet where it belongs as soon as it is', () => {
    const kept = keepTranscript();
    kept.page(page([text(5, 'e', 'five')], { nextCursor: '5' }));
    kept.events([text(6, 'a', 'one, revised'), text(7, 'g', 'seven')]);
    expect(shown(kept)).toEqual(['five', 'one, revised', 'seven']);
    kept.page(page([text(1, 'a', 'one'), text(2, 'b', 'two')]));
    expect(shown(kept)).toEqual(['one, revised', 'two', 'five', 'seven']);
    kept.events([text(8, 'g', 'seven, longer'), text(9, 'h', 'nine')]);
    expect(shown(kept)).toEqual(['one, revised', 'two', 'five', 'seven, longer', 'nine']);
  });

  it('is a value: what was shown does not change with what comes', () => {
    const kept = of([text(1, 'a', 'one')]);
    const before = kept.now().rows;
    kept.events([text(2, 'a', 'two'), text(3, 'b', 'three')]);
    kept.page(page([text(1, 'z', 'zero')]));
    expect(before.map(({ event: { sequence } }) => sequence)).toEqual([1]);
  });
});

describe('what is being written', () => {
  const words = (given: { readonly rows: readonly { readonly event: OrreryEvent }[] }): string[] =>
    given.rows.map(({ event: { body } }) => (body.kind === 'text' ? body.text : body.kind));

  it('stands behind all, or where its row is, and leaves what is kept as it was', () => {
    const kept = of([text(1, 'a', 'one'), text(2, 'b', 'tw')]).now();
    const live = [
      { kind: 'text', row: 'b', text: 'two and' },
      { kind: 'text', row: 'c', text: 'thr' },
    ] as const;
    expect(words(withLive(kept, live, 'ses_1'))).toEqual(['one', 'two and', 'thr']);
    expect(words(kept)).toEqual(['one', 'tw']);
    expect(withLive(kept, [], 'ses_1')).toBe(kept);
  });

  it('has the key that its row will have: the page keeps its place', () => {
    const live = withLive(of().now(), [{ kind: 'text', row: 'a', text: 'o' }], 'ses_1');
    expect(live.rows.map(({ key }) => key)).toEqual(
      of([text(1, 'a', 'one')])
        .now()
        .rows.map(({ key }) => key),
    );
  });
});
