import { describe, expect, it } from 'vitest';
import { heldUp } from './held-up.ts';

const session = {
  id: 'ses_1',
  name: 'talk',
  state: 'idle',
  held: false,
  limit: null,
  reason: null,
  budget: { usd: null, turns: null, reached: null },
} as const;
const mine = { id: 'trn_2', state: 'pending' } as const;
const before = (state: 'uncertain' | 'accepted') => [{ id: 'trn_1', state }, mine] as const;

describe('an input that waits', () => {
  it('waits on while something is done', () => {
    expect(heldUp({ ...session, state: 'running' }, before('accepted'), mine.id)).toBeNull();
  });

  it('is held up by a session that failed, and says why', () => {
    const failed = { ...session, state: 'failed', reason: 'Its set-up failed.' } as const;
    const held = heldUp(failed, [mine], mine.id);
    const said = '  The session failed. Its set-up failed.';
    expect([held?.failure.exit, held?.failure.error.code, held?.hints?.[0]]).toEqual([1, 'agent_failed', said]);
    expect(heldUp(failed, [{ ...mine, state: 'ended' }], mine.id)).toBeNull();
  });

  it('is held up by a session that was closed, and says how it goes on', () => {
    const way = 'orrery session resume talk';
    const held = heldUp({ ...session, state: 'dormant', held: true }, [mine], mine.id);
    expect([held?.failure.exit, held?.failure.error.fix]).toEqual([8, way]);
  });

  it('is held up by a usage limit of its account, and says until when', () => {
    const limit = { account: 'claude/anthropic', until: '2030-01-01T00:00:00.000Z', told: true };
    const held = heldUp({ ...session, limit }, [mine], mine.id);
    expect([held?.failure.exit, held?.failure.error.fix]).toEqual([10, 'To try it now: orrery session resume talk']);
    expect(held?.failure.error.message).toContain('claude/anthropic, until 2030-01-01T00:00:00.000Z');
  });

  it('is held up by a budget that is reached, and says how to raise it', () => {
    const held = heldUp({ ...session, budget: { usd: 2, turns: 3, reached: 'turns' } }, [mine], mine.id);
    expect([held?.failure.exit, held?.failure.error.fix]).toEqual([10, 'orrery session set talk --max-turns N']);
    const dear = heldUp({ ...session, budget: { usd: 2, turns: 3, reached: 'usd' } }, [mine], mine.id);
    expect([dear?.failure.error.code, dear?.failure.error.fix]).toEqual([
      'budget_exhausted',
      'orrery session set talk --budget USD',
    ]);
  });

  it('is held up by one before it that a person has to decide, and says which', () => {
    const held = heldUp(session, before('uncertain'), mine.id);
    const way = 'orrery session decide talk trn_1 retry';
    expect([held?.failure.exit, held?.failure.error.fix, held?.hints?.at(-1)]).toEqual([7, way, `  ${way}`]);
  });
});
