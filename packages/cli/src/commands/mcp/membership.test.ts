import type { AttachedView } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { describe, expect, it } from 'vitest';
import type { Link } from '../../patient-link.ts';
import { mcpLimits } from './limits.ts';
import { createMembership, type MembershipParts } from './membership.ts';

type Call = { readonly name: string; readonly id?: string; readonly body: Record<string, unknown> };

/** A node that keeps what it was told; `answer` may refuse. */
const bench = (answer: (call: Call) => void = () => undefined) => {
  const calls: Call[] = [];
  const stop = new AbortController();
  let made = 0;
  const call = async (name: string, { params, body }: { params?: { id: string }; body: Record<string, unknown> }) => {
    const one = { name, ...(params === undefined ? {} : { id: params.id }), body };
    calls.push(one);
    answer(one);
    if (name === 'attachedBegin') made++;
    return { id: params?.id ?? `ses_${made}`, name: `claude-${made}` } as AttachedView;
  };
  const notes: string[] = [];
  let request = 0;
  const parts: MembershipParts = {
    ...{ link: { call } as unknown as Pick<Link, 'call'>, asked: { harness: 'claude' }, signal: stop.signal },
    ...{ newRequestId: () => `r${++request}`, sleep: pause, note: (text) => void notes.push(text) },
  };
  return { membership: createMembership(parts), calls, notes, stop };
};

/** The pauses between two words pass at once; the end of waiting for the node never comes. */
const pause = (ms: number): Promise<void> => (ms < mcpLimits.leaveMs ? Promise.resolve() : new Promise(() => undefined));

const over = (id: string): OrreryError => new OrreryError('conflict', 'It has ended.', { details: { ended: id } });

describe('the session of a program', () => {
  it('is made once, however many ask for it', async () => {
    const { membership, calls } = bench();
    const found = await Promise.all([membership.session(), membership.session()]);
    expect(found.map(({ id }) => id)).toEqual(['ses_1', 'ses_1']);
    expect(calls).toEqual([{ name: 'attachedBegin', body: { harness: 'claude', requestId: 'r1' } }]);
  });

  it('is told what the program says it is, also while a word of life is on its way, and then no more', async () => {
    let beats = 0;
    const { membership, calls, stop } = bench(({ name }) => {
      if (name !== 'attachedBeat') return;
      beats++;
      if (beats === 1) membership.introduce('claude-code 2.1');
      if (beats === 3) stop.abort();
    });
    await membership.live();
    expect(calls.slice(1).map(({ name, body }) => [name, body])).toEqual([
      ['attachedBeat', {}],
      ['attachedBeat', { program: 'claude-code 2.1' }],
      ['attachedBeat', {}],
    ]);
  });

  it('that the node ended while the process lived on is followed by another, once', async () => {
    let beats = 0;
    const { membership, calls, notes, stop } = bench(({ name, id }) => {
      if (name !== 'attachedBeat') return;
      beats++;
      if (beats === 2) stop.abort();
      if (id === 'ses_1') throw over('ses_1');
    });
    await membership.live();
    expect(calls.map(({ name, id }) => [name, id])).toEqual([
      ['attachedBegin', undefined],
      ['attachedBeat', 'ses_1'],
      ['attachedBegin', undefined],
      ['attachedBeat', 'ses_2'],
    ]);
    expect((await membership.again('ses_1')).id).toBe('ses_2');
    expect(notes).toContain('  The node ended the session claude-1, whose process was silent too long.');
  });

  it('that cannot be made is tried again, and one that is left waits for nobody', async () => {
    let tries = 0;
    const { membership, calls } = bench(({ name }) => {
      if (name === 'attachedBegin' && tries++ === 0) throw new OrreryError('limit_reached', 'Too many.');
    });
    await membership.leave();
    await expect(membership.session()).rejects.toMatchObject({ code: 'limit_reached' });
    expect((await membership.session()).id).toBe('ses_1');
    membership.introduce('claude-code 2.1');
    await membership.leave();
    expect(calls.map(({ name }) => name)).toEqual(['attachedBegin', 'attachedBegin', 'attachedBeat', 'attachedEnd']);
  });
});
