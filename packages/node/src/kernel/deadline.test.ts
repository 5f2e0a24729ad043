import { describe, expect, it } from 'vitest';
import { systemClock } from './clock.ts';
import { startDeadline, withDeadline } from './deadline.ts';

describe('a deadline', () => {
  it('names itself in the error when the time is over, even when the work never looks', async () => {
    const clock = { sleep: async () => undefined };
    await expect(withDeadline({ name: 'hook', ms: 10 }, clock, () => new Promise(() => undefined))).rejects.toMatchObject({
      code: 'deadline',
      details: { deadline: 'hook', ms: 10 },
    });
  });

  it('answers what the work answers when there is time', async () => {
    await expect(withDeadline({ name: 'hook', ms: 60_000 }, systemClock, async () => 7)).resolves.toBe(7);
  });

  it('passes on an outer abort with its own reason', async () => {
    const outer = new AbortController();
    const running = withDeadline(
      { name: 'hook', ms: 60_000, within: outer.signal },
      systemClock,
      () => new Promise(() => undefined),
    );
    outer.abort(new Error('cancelled'));
    await expect(running).rejects.toThrow('cancelled');
  });

  it('never fires once it was ended', async () => {
    let fire = (): void => undefined;
    const clock = {
      sleep: (_ms: number, signal?: AbortSignal) =>
        new Promise<void>((resolve, reject) => {
          fire = resolve;
          signal?.addEventListener('abort', () => reject(signal.reason));
        }),
    };
    const deadline = startDeadline({ name: 'hook', ms: 10 }, clock);
    deadline.end();
    fire();
    await Promise.resolve();
    expect(deadline.signal.aborted).toBe(false);
  });
});
