import { OrreryError } from '@orrery/protocol';
import { describe, expect, it } from 'vitest';
import type { Handle } from '../exec/backend.ts';
import type { SpokenLine, Speech } from '../harness/harness.ts';
import type { InputState } from '../keeper/types.ts';
import { TERMINATE_GRACE_MS, TURN_CLOSE_MS } from '../kernel/limits.ts';
import type { AttemptContext } from './attempt-context.ts';
import { createSpeaker } from './speak.ts';

const turns = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

/** A program that notes what is done to it, and a clock whose sleeps end when the test says so. */
const scene = (write: (key: string) => Promise<InputState> = async () => ({ state: 'written' })) => {
  const done: string[] = [];
  const sleeps: { ms: number; wake: () => void }[] = [];
  let outbox: readonly SpokenLine[] = [];
  const speech: Speech = {
    outbox: () => outbox,
    wrote: (key) => {
      outbox = outbox.filter((line) => line.key !== key);
    },
  };
  const note = (what: string) => async () => void done.push(what);
  const handle = {
    write: (key: string) => {
      done.push(key);
      return write(key);
    },
    closeInput: note('closed'),
    terminate: note('asked'),
    kill: note('killed'),
  } as unknown as Handle;
  const clock = {
    sleep: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((wake, reject) => {
        sleeps.push({ ms, wake });
        signal?.addEventListener('abort', () => reject(signal.reason as Error));
      }),
  };
  const context = {
    parts: { clock, atKillPoint: () => undefined },
    detached: new AbortController().signal,
  } as unknown as AttemptContext;
  const speaker = createSpeaker({ context, handle, stage: 'drive', speech });
  const put = (...keys: string[]): void => {
    outbox = [...outbox, ...keys.map((key) => ({ key, text: key }))];
  };
  return { speaker, done, sleeps, put, left: () => outbox.map(({ key }) => key) };
};

describe('a speaker', () => {
  it('writes what is stored, in order, each once, and nothing that was said since', async () => {
    const { speaker, done, put, left } = scene();
    put('a', 'b');
    speaker.say();
    speaker.say();
    put('c');
    await turns();
    expect([done, left()]).toEqual([['a', 'b'], ['c']]);
    speaker.say();
    await turns();
    expect([done, left()]).toEqual([['a', 'b', 'c'], []]);
  });

  it('writes nothing behind a line that did not go through whole', async () => {
    const { speaker, done, put, left } = scene(async () => ({ state: 'partial', bytes: 1 }));
    put('a', 'b');
    speaker.say();
    await turns();
    expect([done, left()]).toEqual([['a'], ['a', 'b']]);
  });

  it('says nothing of a program that has ended, and everything else', async () => {
    const gone = scene(() => Promise.reject(new OrreryError('conflict', 'The program has ended.')));
    gone.put('a');
    gone.speaker.say();
    await turns();
    expect(await Promise.race([gone.speaker.failed, Promise.resolve('nothing')])).toBe('nothing');
    const broken = scene(() => Promise.reject(new Error('the journal is full')));
    broken.put('a');
    broken.speaker.say();
    await expect(broken.speaker.failed).rejects.toThrow('the journal is full');
  });

  it('closes behind what is written, then asks a program that stays to end, then ends it', async () => {
    const { speaker, done, sleeps, put } = scene();
    put('a');
    speaker.say();
    speaker.close();
    speaker.close();
    await turns();
    expect([done, sleeps.map(({ ms }) => ms)]).toEqual([['a', 'closed'], [TURN_CLOSE_MS]]);
    sleeps[0]?.wake();
    await turns();
    expect([done.at(-1), sleeps.at(-1)?.ms]).toEqual(['asked', TERMINATE_GRACE_MS]);
    sleeps[1]?.wake();
    await turns();
    expect(done).toEqual(['a', 'closed', 'asked', 'killed']);
  });

  it('leaves a program alone that ends by itself, also one that read nothing', async () => {
    const { speaker, done, put } = scene(() => new Promise(() => undefined));
    put('a');
    speaker.say();
    speaker.close();
    speaker.over();
    await turns();
    expect(done).toEqual(['a']);
  });
});
