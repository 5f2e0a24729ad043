import { describe, expect, it } from 'vitest';
import { failureOf, readErrorBody } from './failure.ts';

const of = (status: number | null, message = '', ...codes: string[]) => failureOf({ status, codes, message });

describe('failures of model calls', () => {
  it('goes by the status and codes before the words', () => {
    expect([of(401), of(403), of(402), of(413), of(429), of(529), of(500), of(503), of(504), of(400), of(null)]).toEqual([
      ...['auth', 'auth', 'billing', 'context', 'rate_limit', 'overloaded', 'overloaded', 'overloaded', 'timeout'],
      ...[null, null],
    ]);
    expect(of(429, 'slow', 'usage_limit_reached')).toBe('usage_limit');
    expect(of(429, 'slow', 'insufficient_quota')).toBe('billing');
    expect(of(400, 'x', 'context_length_exceeded')).toBe('context');
    expect(of(500, 'your credit balance is too low')).toBe('overloaded');
    expect(of(401, 'overloaded')).toBe('auth');
  });

  it('lets the words tell only what the status leaves open', () => {
    expect(of(429, 'The usage limit of this plan has been reached.')).toBe('usage_limit');
    expect(of(400, 'prompt is too long: 250000 tokens > 200000 maximum')).toBe('context');
    expect(of(null, 'You’ve hit your usage limit.')).toBe('usage_limit');
    expect(of(400, 'unknown field')).toBeNull();
  });

  it('is not fooled by names of JavaScript', () => {
    expect(of(400, '', 'constructor', '__proto__')).toBeNull();
  });

  it('reads the bodies of all wires', () => {
    expect(readErrorBody('{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}')).toEqual({
      codes: ['overloaded_error'],
      message: 'Overloaded',
      resetsAt: null,
      waitMs: null,
    });
    expect(readErrorBody('{"error":{"message":"m","type":"usage_limit_reached","code":null,"resets_at":1900000000}}')).toEqual({
      codes: ['usage_limit_reached'],
      message: 'm',
      resetsAt: '2030-03-17T17:46:40.000Z',
      waitMs: null,
    });
    expect(readErrorBody('{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED"}}')).toEqual({
      codes: ['RESOURCE_EXHAUSTED'],
      message: 'm',
      resetsAt: null,
      waitMs: null,
    });
    const details = [{ violations: [{ quotaId: 'RequestsPerDay-FreeTier' }] }, { retryDelay: '34.5s' }];
    expect(readErrorBody(JSON.stringify({ error: { message: 'm', status: 'RESOURCE_EXHAUSTED', details } }))).toEqual({
      codes: ['usage_limit_reached', 'RESOURCE_EXHAUSTED'],
      message: 'm',
      resetsAt: null,
      waitMs: 34_500,
    });
    expect(readErrorBody('<html>')).toEqual({ codes: [], message: '<html>', resetsAt: null, waitMs: null });
  });
});
