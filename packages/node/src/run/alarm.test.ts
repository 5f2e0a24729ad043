import { expect, it } from 'vitest';
import { ALARM_LOOK_MS } from '../kernel/limits.ts';
import { createAlarm } from './alarm.ts';

/** A wall clock that can be set, and sleeps that end when the steady time has passed. */
const fakeTime = () => {
  const time = { wall: 1_000_000, sleeps: [] as { left: number; wake: () => void }[] };
  return {
    clock: {
      nowMs: () => time.wall,
      sleep: (ms: number, signal?: AbortSignal) =>
        new Promise<void>((resolve, reject) => {
          time.sleeps.push({ left: ms, wake: resolve });
          signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
        }),
    },
    setWall: (ms: number) => {
      time.wall = ms;
    },
    asleep: () => time.sleeps.length,
    pass: async (ms: number) => {
      time.wall += ms;
      for (const sleep of time.sleeps) sleep.left -= ms;
      const over = time.sleeps.filter(({ left }) => left <= 0);
      time.sleeps = time.sleeps.filter(({ left }) => left > 0);
      for (const { wake } of over) wake();
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    },
  };
};

const alarmAt = async (time: ReturnType<typeof fakeTime>, at: { ms: number | null }) => {
  const rung: number[] = [];
  const alarm = createAlarm({
    clock: time.clock,
    next: async () => at.ms,
    ring: () => rung.push(time.clock.nowMs()),
    failed: (thrown) => {
      throw thrown;
    },
  });
  alarm.set();
  await time.pass(0);
  return { alarm, rung };
};

it('rings when the instant has come, once, and an earlier one that is set later takes its place', async () => {
  const time = fakeTime();
  const at = { ms: 1_000_000 + 100 };
  const { alarm, rung } = await alarmAt(time, at);
  await time.pass(99);
  expect(rung).toEqual([]);
  at.ms = 1_000_000 + 150;
  alarm.set();
  await time.pass(0);
  await time.pass(10);
  expect(rung).toEqual([]);
  await time.pass(41);
  expect(rung).toEqual([1_000_150]);
  await time.pass(10 * ALARM_LOOK_MS);
  expect(rung).toHaveLength(1);
});

it('is late by a bounded time when the clock is set forward, and not early when it is set back', async () => {
  const time = fakeTime();
  const day = 24 * 60 * 60 * 1000;
  const { rung } = await alarmAt(time, { ms: 1_000_000 + day });
  time.setWall(1_000_000 + day + 5);
  await time.pass(ALARM_LOOK_MS);
  expect(rung).toHaveLength(1);
  const back = await alarmAt(time, { ms: time.clock.nowMs() + 1_000 });
  time.setWall(1_000);
  await time.pass(1_000);
  expect(back.rung).toEqual([]);
  time.setWall(1_000_000 + 3 * day);
  await time.pass(ALARM_LOOK_MS);
  expect(back.rung).toHaveLength(1);
});

it('sleeps for nothing when there is nothing to wait for, and stops', async () => {
  const time = fakeTime();
  const none = await alarmAt(time, { ms: null });
  expect([none.rung, time.asleep()]).toEqual([[], 0]);
  const { alarm, rung } = await alarmAt(time, { ms: 1_000_000 + 10 });
  alarm.stop();
  await time.pass(ALARM_LOOK_MS);
  expect(rung).toEqual([]);
});
