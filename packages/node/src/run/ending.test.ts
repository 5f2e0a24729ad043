import { OrreryError } from '@orrery/protocol/errors';
import { describe, expect, it } from 'vitest';
import type { GatewayFailure, TurnFailure } from '../harness/harness.ts';
import { settleOutcome } from '../harness/outcome.ts';
import { endingOf, endingOfTurn } from './ending.ts';

type Reported = Parameters<typeof settleOutcome>[0];

const knows = (failure: GatewayFailure['failure'] | null): GatewayFailure | null =>
  failure === null ? null : { failure, message: 'as the gateway saw it', resetsAt: null };
const says = (failure: TurnFailure): Reported => ({ kind: 'failure', failure, message: 'it did not work', resetsAt: null });
const exited = { exitCode: 1, signal: null, stderrTail: '' } as const;

/** Verdict, cause and reason of a turn: what the program said of it, and what the gateway knows of its newest call. */
const end = (word: Reported, failure: GatewayFailure['failure'] | null) => {
  const gateway = knows(failure);
  const outcome = settleOutcome(word, { ...exited, gateway }, 'The program');
  return endingOfTurn(outcome, { budgetRefused: false, gateway });
};

describe('whose fault it is that a turn failed', () => {
  it.each([
    // What the gateway knows stands above whatever the program makes of it.
    ['protocol', 'network', 'infrastructure', /^The connection to the model broke: /],
    ['program', 'overloaded', 'infrastructure', /^The provider is overloaded: /],
    ['auth', 'rate_limit', 'infrastructure', /^The provider limits the rate: /],
    ['network', 'protocol', 'infrastructure', /^The model's answer could not be read: /],
    ['network', 'timeout', 'infrastructure', /^The model fell silent: /],
    ['network', 'auth', 'auth', /^The provider refused the credential: /],
    ['network', 'context', 'agent', /^The conversation no longer fits the model: /],
    // A node that was started again has forgotten its calls: the program's word is left.
    ['network', null, 'infrastructure', /^The connection to the model broke: /],
    ['overloaded', null, 'infrastructure', /^The provider is overloaded: /],
    ['rate_limit', null, 'infrastructure', /^The provider limits the rate: /],
    // Of the program's own doing.
    ['protocol', null, 'agent', /^The answer could not be read: /],
    ['program', null, 'agent', /^The agent program ended without a result: /],
    ['timeout', null, 'timeout', /^it did not work$/],
  ] as const)('the program says %s, the gateway %s: cause %s', (word, gateway, cause, reason) => {
    expect(end(says(word), gateway)).toEqual({ verdict: 'failed', cause, reason: expect.stringMatching(reason) });
  });

  it.each([null, 'network', 'protocol'] as const)('a program that ends without a word, the gateway says %s', (gateway) => {
    expect(end(null, gateway)?.cause).toBe(gateway === null ? 'agent' : 'infrastructure');
  });

  it('a turn that succeeded has, whatever its newest call came to', () => {
    expect(end({ kind: 'success' }, 'network')).toBeNull();
  });
});

it('a place that went since it reached a bound of its own is that limit; any other that went is no fault of the task', () => {
  const gone = (details: object) => endingOf(new OrreryError('keeper_lost', 'It went.', { details: { ...details } }), 'agent');
  expect(gone({ limit: 'disk' })).toEqual({
    verdict: 'limit',
    cause: 'disk',
    reason: expect.stringContaining('It went. It reached the disk limit'),
  });
  expect(gone({ limit: 'memory' })).toMatchObject({ verdict: 'limit', cause: 'memory' });
  expect(gone({})).toEqual({ verdict: 'interrupted', cause: 'infrastructure', reason: 'It went.' });
});
