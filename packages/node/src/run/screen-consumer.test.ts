import { describe, expect, it } from 'vitest';
import { createHarnessRegistry } from '../harness/registry.ts';
import { screenConsumer, type ScreenConsumer } from './screen-consumer.ts';

const registry = createHarnessRegistry();
const screenOf = (id: string) => registry.get(id).screen!;
const start = { stdout: 0, stderr: 0, state: null };
const osc = (text: string): string => `\u001b]${text}\u0007`;
const claude = (status: string): string => osc(`777;notify;orrery-status;${status}`);
const program = (status: string): string => osc(`7501;state=${status}:app=x`);

/** What the task waits for after each piece; `undefined`: as before. */
const told = (consumer: ScreenConsumer, ...pieces: readonly string[]) =>
  pieces.map((piece) => consumer.push('stdout', Buffer.from(piece)).waitingFor);

const done = 'a person: the agent has finished its turn';

describe('what a full screen tells of itself', () => {
  it.each([
    ['claude', claude],
    ['codex', program],
    ['pi', program],
  ] as const)('%s: works, has finished, asks; said once, in any pieces', (id, say) => {
    const whole = `drawn ${say('working')} drawn ${say('done')} `;
    const pieces = told(screenConsumer(screenOf(id), start, true), ...whole);
    expect(pieces.filter((one) => one !== undefined)).toEqual([null, done]);
    expect(told(screenConsumer(screenOf(id), start, true), whole, say('done'), say('blocked'), say('working'))).toEqual([
      done,
      undefined,
      'a person: the agent asks something',
      null,
    ]);
  });

  it('having nothing to do is a wait only for one that was begun with nothing, or was stopped', () => {
    expect(told(screenConsumer(screenOf('pi'), start, true), program('idle'), program('working'), program('idle'))).toEqual([
      undefined,
      null,
      'a person: the agent has nothing to do',
    ]);
    expect(told(screenConsumer(screenOf('pi'), start, false), program('idle'))).toEqual([
      'a person: the agent has nothing to do',
    ]);
    expect(told(screenConsumer(screenOf('codex'), start, true), program('done'), program('idle'))).toEqual([done, undefined]);
  });

  it('a plain command rings until somebody writes; titles, links and progress are no ring', () => {
    const consumer = screenConsumer(screenOf('command'), start, true);
    const ring = 'a person: the program asks to be looked at';
    const quiet = `${osc('0;title')}${osc('8;;x')}${osc('9;4;1;50')}`;
    expect(told(consumer, quiet, '\u0007', 'more')).toEqual([undefined, ring, undefined]);
    consumer.answered();
    expect(told(consumer, 'echo', osc('9;look'))).toEqual([null, ring]);
  });

  it('goes on from a stored position as if it had never stopped, and records its position in steps', () => {
    const all = Buffer.from(`${'x'.repeat(300_000)}${program('done')}`);
    for (const cut of [10, 270_000, all.length - 9]) {
      const first = screenConsumer(screenOf('codex'), start, true);
      const { offset } = first.push('stdout', all.subarray(0, cut));
      // Only what stands at a recorded offset is stored.
      const stored = offset === cut ? JSON.parse(JSON.stringify(first.state())) : null;
      const next = screenConsumer(screenOf('codex'), { stdout: offset, stderr: 0, state: stored }, true);
      expect(next.push('stdout', all.subarray(offset)).waitingFor).toBe(done);
    }
  });
});
