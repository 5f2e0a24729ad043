import { expect, it } from 'vitest';
import { failureCause } from '@orrery/protocol';
import { limitIn, reachedLimit } from './limit-text.ts';

it('each limit has a cause of its own, which its text tells again, with the option and the key that raise it', () => {
  const limits = ['wall', 'cpu', 'memory', 'processes', 'output', 'file', 'disk'] as const;
  const causes = limits.map((limit) => {
    const { cause, text } = reachedLimit(limit);
    expect([limitIn(text), failureCause.safeParse(cause).success]).toEqual([cause, true]);
    expect(text).toMatch(/--limit-[a-z]+.*limits\.[a-zA-Z]+/);
    return cause;
  });
  expect(causes).toEqual(['wall', 'cpu', 'memory', 'processes', 'output', 'disk', 'disk']);
  expect([limitIn('exit 3'), limitIn(null)]).toEqual([null, null]);
});
