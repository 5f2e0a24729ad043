import { describe, expect, it } from 'vitest';
import { createMutex } from './mutex.ts';

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a keyed mutex', () => {
  it('runs work of one key in order and one at a time, also after a failure', async () => {
    const mutex = createMutex();
    const log: string[] = [];
    const job = (name: string) => async (): Promise<string> => {
      log.push(`${name} begins`);
      await tick();
      log.push(`${name} ends`);
      if (name === 'b') throw new Error('b fails');
      return name;
    };
    const ended = await Promise.allSettled([mutex.run('k', job('a')), mutex.run('k', job('b')), mutex.run('k', job('c'))]);
    expect(ended.map((one) => one.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
    expect(mutex.busy).toBe(0);
  });

  it('lets different keys run side by side', async () => {
    const mutex = createMutex();
    const gate = Promise.withResolvers<void>();
    const slow = mutex.run('slow', () => gate.promise);
    await expect(mutex.run('quick', async () => 'done')).resolves.toBe('done');
    gate.resolve();
    await slow;
  });
});
