import type { OrreryEvent } from '@orrery/protocol';
import { describe, expect, it } from 'vitest';
import { LIVE_FRAME_MS, LIVE_ROW_CHARS, LIVE_ROWS } from '../kernel/limits.ts';
import { createLiveTexts } from './live-text.ts';

const scene = () => {
  const sleeping: { readonly ms: number; readonly wake: () => void }[] = [];
  const listeners = new Set<(events: readonly OrreryEvent[]) => void>();
  const texts = createLiveTexts({
    store: { subscribe: (listener) => (listeners.add(listener), () => void listeners.delete(listener)) },
    clock: { sleep: (ms) => new Promise((wake) => void sleeping.push({ ms, wake })) },
  });
  const stored = (body: object): void =>
    listeners.forEach((listen) =>
      listen([{ seq: 1, at: '', taskId: null, sessionId: 's', sequence: 1, turn: 1, body } as OrreryEvent]),
    );
  return { texts, sleeping, stored };
};
const shown = (rows: readonly { readonly row: string; readonly text: string }[]) => rows.map(({ row, text }) => [row, text]);

describe('text that is being written', () => {
  it('begins with the row, grows, and is gone when the row is whole or the turn is over', () => {
    const { texts } = scene();
    texts.add('s', { kind: 'text', row: 'late', append: 'the middle of it' });
    texts.add('s', { kind: 'text', row: 'a', text: '' });
    texts.add('s', { kind: 'text', row: 'a', append: 'on' });
    texts.add('s', { kind: 'text', row: 'a', append: 'e' });
    texts.add('s', { kind: 'tool.result', row: 'a', text: 'printed' });
    expect(shown(texts.rows('s'))).toEqual([
      ['a', 'one'],
      ['a', 'printed'],
    ]);
    texts.over('s', { kind: 'text', row: 'a' });
    expect(shown(texts.rows('s'))).toEqual([['a', 'printed']]);
    texts.clear('s');
    expect([texts.rows('s'), texts.rows('nobody')]).toEqual([[], []]);
  });

  it('begins anew for readers when it is another text, or when a part of it was stored', () => {
    const { texts, stored } = scene();
    texts.add('s', { kind: 'text', row: 'a', text: 'one' });
    const [first] = texts.rows('s').map(({ epoch }) => epoch);
    texts.add('s', { kind: 'text', row: 'a', text: 'one two' });
    expect(texts.rows('s')[0]?.epoch).toBe(first);
    texts.add('s', { kind: 'text', row: 'a', text: 'else' });
    const second = texts.rows('s')[0]!.epoch;
    stored({ kind: 'text', row: 'a', text: 'else' });
    expect(new Set([first, second, texts.rows('s')[0]?.epoch]).size).toBe(3);
  });

  it('is told at most once in a while, and to nobody when nobody watches', async () => {
    const { texts, sleeping } = scene();
    texts.add('s', { kind: 'text', row: 'a', text: 'one' });
    expect(sleeping).toEqual([]);
    let told = 0;
    const leave = texts.watch('s', () => (told += 1));
    for (let n = 0; n < 100; n++) texts.add('s', { kind: 'text', row: 'a', append: '.' });
    expect(sleeping.map(({ ms }) => ms)).toEqual([LIVE_FRAME_MS]);
    sleeping[0]!.wake();
    await Promise.resolve();
    texts.add('s', { kind: 'text', row: 'a', append: '!' });
    expect([told, sleeping.length]).toEqual([1, 2]);
    leave();
    sleeping[1]!.wake();
    await Promise.resolve();
    expect(told).toBe(1);
  });

  it('is bounded: of a long row the beginning is shown, and so many rows', () => {
    const { texts } = scene();
    texts.add('s', { kind: 'text', row: 'long', text: 'a' });
    for (let n = 0; n < 10; n++) texts.add('s', { kind: 'text', row: 'long', append: 'x'.repeat(LIVE_ROW_CHARS / 4) });
    expect(texts.rows('s')[0]?.text.length).toBe(LIVE_ROW_CHARS);
    for (let n = 0; n < LIVE_ROWS * 2; n++) texts.add('s', { kind: 'text', row: `r${n}`, text: 'x' });
    expect(texts.rows('s').length).toBe(LIVE_ROWS);
  });
});
