import { describe, expect, it } from 'vitest';
import { VIEW_BUFFER_BYTES } from './limits.ts';
import { createSubscription } from './subscription.ts';

const output = (offset: number, bytes: number) => ({
  kind: 'output' as const,
  stream: 'stdout' as const,
  offset,
  bytes: new Uint8Array(bytes),
});
const end = (offset: number) => ({ kind: 'eof' as const, stream: 'stdout' as const, offset });

describe('a reader of a stream that is shared with others', () => {
  it('takes each byte once, whatever an earlier attachment still brings', async () => {
    const reader = createSubscription('stdout', 10, () => undefined);
    for (const frame of [output(0, 10), output(10, 5), output(10, 5), output(20, 5), output(15, 5), end(15), end(20)])
      reader.take(frame);
    const seen = [await reader.next(), await reader.next(), await reader.next()];
    expect(seen).toEqual([output(10, 5), output(15, 5), end(20)]);
  });

  it('stops the stream when it is slow, drops what comes then, and goes on where it is', async () => {
    const flows: (readonly [boolean, number])[] = [];
    const reader = createSubscription('stdout', 0, ({ flowing, wanted }) => flows.push([flowing, wanted]));
    const half = VIEW_BUFFER_BYTES / 2;
    for (const offset of [0, half, 2 * half, 3 * half]) reader.take(output(offset, half));
    expect(flows).toEqual([[false, 3 * half]]);
    await reader.next();
    await reader.next();
    expect(flows).toHaveLength(1);
    await reader.next();
    expect(flows).toEqual([
      [false, 3 * half],
      [true, 3 * half],
    ]);
    reader.take(output(3 * half, half));
    expect(await reader.next()).toMatchObject({ offset: 3 * half });
  });

  it('reads to the end of what came when the keeper is gone, and fails at once with what it is told', async () => {
    const reader = createSubscription('stderr', 0, () => undefined);
    reader.take({ ...output(0, 3), stream: 'stderr' });
    reader.lose();
    expect([(await reader.next()).kind, (await reader.next()).kind]).toEqual(['output', 'lost']);
    const other = createSubscription('stdout', 0, () => undefined);
    const next = other.next();
    other.fail(new Error('trimmed'));
    await expect(next).rejects.toThrow('trimmed');
  });
});
