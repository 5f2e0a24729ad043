import { describe, expect, it } from 'vitest';
import { settleOutcome } from '../outcome.ts';
import { failureOfPrompt, reportedOf } from './failures.ts';

const resetsAt = '2030-01-01T00:00:00.000Z';
const end = { exitCode: null, signal: null, stderrTail: '' };

describe('why a prompt failed', () => {
  it.each([
    ['the status as its code', { code: 429, message: 'Too many' }, 'rate_limit'],
    ['an overloaded provider', { code: 529, message: 'Overloaded' }, 'overloaded'],
    ['a status beside', { code: -32_603, message: 'Internal error', data: { status: 401 } }, 'auth'],
    ['a kind of error', { code: -32_603, message: 'x', data: { errorKind: 'billing_error' } }, 'billing'],
    ['a code', { code: -32_603, message: 'x', data: { codexErrorInfo: 'usageLimitExceeded' } }, 'usage_limit'],
    ['an older code', { code: -32_603, message: 'x', data: { codex_error_info: 'contextWindowExceeded' } }, 'context'],
    [
      'a code with a status',
      { code: -32_603, message: 'x', data: { codexErrorInfo: { response: { httpStatusCode: 500 } } } },
      'overloaded',
    ],
    ['a login that is wanted', { code: -32_000, message: 'Authentication required' }, 'auth'],
    [
      'a body in its words',
      { code: -32_603, message: '429 {"error":{"code":"insufficient_quota","message":"used up"}}' },
      'billing',
    ],
    [
      'words in its details',
      { code: -32_603, message: 'Internal error', data: { details: 'prompt is too long: 5 > 4' } },
      'context',
    ],
    ['a lost connection', { code: -32_603, message: 'Connection error.' }, 'network'],
    ['anything else', { code: -32_603, message: 'boom 451 times' }, 'program'],
  ])('%s', (_, error, failure) => expect(failureOfPrompt(error)).toMatchObject({ kind: 'failure', failure }));

  it('keeps the particular words and the time a limit ends', () => {
    const data = { details: '{"error":{"type":"usage_limit_reached","message":"m","resets_at":1893456000}}' };
    expect(failureOfPrompt({ code: -32_603, message: 'Internal error', data })).toEqual({
      ...{ kind: 'failure', failure: 'usage_limit', resetsAt },
      message: `Internal error: ${data.details}`,
    });
  });
});

describe('how a turn ended', () => {
  it.each([
    ['end_turn', { kind: 'success' }],
    ['cancelled', { kind: 'stopped' }],
    ['max_tokens', { kind: 'failure', failure: 'context' }],
    ['refusal', { kind: 'failure', failure: 'program' }],
    ['max_turn_requests', { kind: 'failure', failure: 'program' }],
    ['tired', { kind: 'failure', failure: 'protocol' }],
  ])('%s', (reason, expected) => expect(reportedOf(reason, false)).toMatchObject(expected));

  it('is told by the gateway, where the agent ends a failed turn as if all were well', () => {
    const gateway = { failure: 'usage_limit', message: 'The limit is reached.', resetsAt } as const;
    expect(settleOutcome(reportedOf('end_turn', true), { ...end, gateway }, 'Agent')).toEqual({
      ...{ kind: 'turn.ended', outcome: 'limit', failure: 'usage_limit', message: 'The limit is reached.', resetsAt },
    });
    const budget = { ...gateway, failure: 'budget' } as const;
    expect(settleOutcome(reportedOf('end_turn', true), { ...end, gateway: budget }, 'Agent')).toMatchObject({
      outcome: 'budget',
    });
    expect(settleOutcome(reportedOf('end_turn', true), end, 'Agent')).toMatchObject({ outcome: 'success', failure: null });
    // One that tells its failures is believed: its last call may have been one beside the turn.
    expect(settleOutcome(reportedOf('end_turn', false), { ...end, gateway }, 'Agent')).toMatchObject({ outcome: 'success' });
    const stopped = { ...end, gateway, stoppedFor: 'cancel' } as const;
    expect(settleOutcome(reportedOf('end_turn', true), stopped, 'Agent')).toMatchObject({ outcome: 'cancelled' });
  });
});
