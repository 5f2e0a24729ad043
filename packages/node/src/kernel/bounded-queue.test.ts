import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { OrreryError } from '@orrery/protocol/errors';
import { describe, expect, it } from 'vitest';
import { createBoundedQueue } from './bounded-queue.ts';

describe('a bounded queue', () => {
  it('answers in the order of arrival and refuses, by name, what does not fit', () => {
    const queue = createBoundedQueue<number>({ name: 'test', limit: 2 });
    queue.push(1);
    queue.push(2);
    let refused: unknown = null;
    try {
      queue.push(3);
    } catch (thrown) {
      refused = thrown;
    }
    expect(refused).toBeInstanceOf(OrreryError);
    expect((refused as OrreryError).toBody()).toEqual({
      code: 'queue_full',
      message: 'The queue "test" is full.',
      rule: 'It holds at most 2.',
      fix: 'Try again in a moment.',
      retryable: true,
      details: { queue: 'test', limit: 2 },
    });
    expect([queue.shift(), queue.shift(), queue.shift()]).toEqual([1, 2, undefined]);
  });

  it('keeps the order and the size over many thousand items', () => {
    const queue = createBoundedQueue<number>({ name: 'test', limit: 10_000 });
    const seen: number[] = [];
    for (let n = 0; n < 50_000; n++) {
      queue.push(n);
      if (n % 3 === 2) seen.push(...queue.take(3));
    }
    seen.push(...queue.take(10));
    expect(seen).toEqual(Array.from({ length: 50_000 }, (_, n) => n));
    expect(queue.size).toBe(0);
  });

  it('holds nothing of what was taken', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const queue = createBoundedQueue<object>({ name: 'test', limit: 10 });
    const pushed = (): WeakRef<object> => {
      const item = { large: true };
      queue.push(item);
      return new WeakRef(item);
    };
    const refs = [pushed(), pushed(), pushed()];
    queue.shift();
    queue.take(1);
    // A weak reference keeps what it points to until the turn is over.
    await new Promise((resolve) => setImmediate(resolve));
    collect();
    expect(refs.map((ref) => ref.deref() === undefined)).toEqual([true, true, false]);
    expect(queue.size).toBe(1);
  });
});
