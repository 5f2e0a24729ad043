import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { OutputChunk } from '../keeper/types.ts';
import { joinedOutput } from './joined-output.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

const collect = async (source: AsyncIterable<OutputChunk>, most = 1_000) => {
  const told: { offset: number; text: string }[] = [];
  let failure: string | null = null;
  try {
    for await (const { offset, bytes } of joinedOutput(source, most))
      told.push({ offset, text: new TextDecoder().decode(bytes) });
  } catch (thrown) {
    failure = (thrown as Error).message;
  }
  return { told, failure };
};

async function* pieces(texts: readonly string[], end: () => void | Promise<void> = () => undefined): AsyncGenerator<OutputChunk> {
  let offset = 0;
  for (const text of texts) {
    if (text === 'pause') await sleep(20);
    else {
      const bytes = encode(text);
      yield { offset, bytes };
      offset += bytes.length;
    }
  }
  await end();
}

describe('joined output', () => {
  it('joins what is there and does not wait for what is not', async () => {
    expect(await collect(pieces(['one ', 'two ', 'pause', 'three']))).toEqual({
      told: [
        { offset: 0, text: 'one two ' },
        { offset: 8, text: 'three' },
      ],
      failure: null,
    });
  });

  it('stops joining at its bound', async () => {
    expect(await collect(pieces(['1234', '5678', '9']), 8)).toEqual({
      told: [
        { offset: 0, text: '12345678' },
        { offset: 8, text: '9' },
      ],
      failure: null,
    });
  });

  it('tells the pieces before a failure, then the failure', async () => {
    const lost = pieces(['one ', 'two'], () => Promise.reject(new Error('lost')));
    expect(await collect(lost)).toEqual({ told: [{ offset: 0, text: 'one two' }], failure: 'lost' });
  });

  it('lets go of a source that waits when its reader leaves', async () => {
    const gate = Promise.withResolvers<void>();
    let left = false;
    async function* waiting(): AsyncGenerator<OutputChunk> {
      try {
        yield { offset: 0, bytes: encode('one') };
        await gate.promise;
      } finally {
        left = true;
      }
    }
    for await (const _ of joinedOutput(waiting(), 10)) break;
    gate.resolve();
    await sleep(1);
    expect(left).toBe(true);
  });
});
