import { PassThrough } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import type { Connection } from './connection.ts';
import { createConnections } from './connections.ts';
import type { HostFacts } from './facts.ts';
import type { Session, SessionEnd } from './session.ts';

const facts = { bootId: 'b' } as HostFacts;
const END: SessionEnd = { greeted: true, ended: { exitCode: 0 }, said: '' };
const spec = { opening: { argv: ['true'], variables: {} }, stdin: undefined, timeoutMs: null } as const;

const fakeConnections = (failures: number[] = []) => {
  const opened: { readonly lose: () => void; readonly ends: (() => void)[]; closed: boolean }[] = [];
  const open = async (): Promise<Connection> => {
    await Promise.resolve();
    if (failures.includes(opened.length)) {
      failures.splice(0);
      throw new Error('no connection');
    }
    const over = Promise.withResolvers<unknown>();
    const one = { lose: () => over.resolve(null), ends: [] as (() => void)[], closed: false };
    opened.push(one);
    return {
      facts,
      over: over.promise,
      close: () => {
        one.closed = true;
        over.resolve(null);
      },
      forward: () => Promise.resolve(true),
      endForward: () => undefined,
      session: (): Session => {
        const ended = Promise.withResolvers<SessionEnd>();
        one.ends.push(() => ended.resolve(END));
        return {
          stdio: new PassThrough(),
          stderr: () => '',
          over: ended.promise,
          ended: ended.promise.then((end) => end.ended),
          giveUp: () => undefined,
          close: () => undefined,
        };
      },
    };
  };
  return { opened, open };
};

describe('the connections to a host', () => {
  it('take as many sessions as they may, and another is opened for the next', async () => {
    const { opened, open } = fakeConnections();
    const connections = createConnections({ open, sessionsEach: 2, idleMs: 1000 });
    await Promise.all(Array.from({ length: 5 }, () => connections.session(spec)));
    expect(opened.map(({ ends }) => ends.length)).toEqual([2, 2, 1]);
    opened[0]!.ends[0]!();
    await vi.waitFor(async () => {
      await connections.session(spec);
      expect(opened[0]!.ends.length).toBe(3);
    });
    connections.close();
  });

  it('one that was lost is not used again; one that cannot be made is an error for those who waited', async () => {
    const { opened, open } = fakeConnections([1]);
    const connections = createConnections({ open, sessionsEach: 8, idleMs: 1000 });
    await connections.session(spec);
    opened[0]!.lose();
    await Promise.resolve();
    await expect(Promise.allSettled([connections.session(spec), connections.facts()])).resolves.toMatchObject([
      { status: 'rejected' },
      { status: 'rejected' },
    ]);
    expect(await connections.facts()).toBe(facts);
    expect(opened).toHaveLength(2);
    connections.close();
  });

  it('one that nobody uses is given back after a while, one that is used is not', async () => {
    vi.useFakeTimers();
    try {
      const { opened, open } = fakeConnections();
      const connections = createConnections({ open, sessionsEach: 1, idleMs: 1000 });
      await connections.session(spec);
      await connections.session(spec);
      opened[0]!.ends[0]!();
      await vi.advanceTimersByTimeAsync(999);
      expect(opened.map(({ closed }) => closed)).toEqual([false, false]);
      await vi.advanceTimersByTimeAsync(1);
      expect(opened.map(({ closed }) => closed)).toEqual([true, false]);
      connections.close();
    } finally {
      vi.useRealTimers();
    }
  });
});
