import { describe, expect, it } from 'vitest';
import { costOf, createPriceTable, leastCostOf, parsePrices } from './prices.ts';

const atMs = Date.parse('2026-06-01T12:00:00Z');
const tokens = { inputTokens: 1000, outputTokens: 100, cachedTokens: 400, cacheWriteTokens: 100, reasoningTokens: 50 };

describe('prices', () => {
  it('know the built-in models and their dated releases, and nothing else', () => {
    const table = createPriceTable();
    expect(table.find({ provider: 'anthropic', model: 'claude-sonnet-4-5', atMs })?.rates).toEqual({
      input: 3,
      output: 15,
      cacheRead: 0.3,
      cacheWrite: 3.75,
    });
    expect(table.find({ provider: 'anthropic', model: 'claude-sonnet-4-5-20250929', atMs })?.model).toBe('claude-sonnet-4-5');
    expect(table.find({ provider: 'openai', model: 'gpt-5.5-2026-04-01', atMs })?.model).toBe('gpt-5.5');
    expect(table.find({ provider: 'openai', model: 'claude-sonnet-4-5', atMs })).toBeNull();
    expect(table.find({ provider: 'anthropic', model: 'constructor', atMs })).toBeNull();
  });

  it('take the user’s entry of the newest day that has begun', () => {
    const own = parsePrices([
      { provider: 'openai', model: 'gpt-5.5', input: 1, output: 2 },
      { provider: 'openai', model: 'gpt-5.5', from: '2026-06-01', input: 3, output: 4, cacheRead: 0.5 },
      { provider: 'openai', model: 'gpt-5.5', from: '2026-06-02', input: 9, output: 9 },
    ]);
    const table = createPriceTable(own);
    expect(table.find({ provider: 'openai', model: 'gpt-5.5', atMs })?.rates).toEqual({
      input: 3,
      output: 4,
      cacheRead: 0.5,
      cacheWrite: 3,
    });
    expect(table.find({ provider: 'openai', model: 'gpt-5.5', atMs: Date.parse('2026-05-31') })?.rates.input).toBe(1);
  });

  it('count each kind of token at its own rate, and long calls at the dearer one', () => {
    const [price] = parsePrices([
      {
        provider: 'a',
        model: 'b',
        input: 10,
        output: 50,
        cacheRead: 1,
        cacheWrite: 12.5,
        long: { aboveInputTokens: 999, input: 20, output: 100, cacheRead: 2, cacheWrite: 25 },
      },
    ]);
    expect(costOf({ ...price!, long: null }, tokens)).toBeCloseTo((500 * 10 + 400 * 1 + 100 * 12.5 + 100 * 50) / 1e6, 12);
    expect(costOf(price!, tokens)).toBeCloseTo((2 * (500 * 10 + 400 * 1 + 100 * 12.5 + 100 * 50)) / 1e6, 12);
    expect(leastCostOf({ ...price!, long: null }, 4_000)).toBeCloseTo(0.001, 12);
  });

  it('say what is wrong in a price file', () => {
    expect(() => parsePrices([{ provider: 'a', model: 'b', input: -1, output: 1 }])).toThrow(/wrong at 0.input/);
    expect(() => parsePrices({})).toThrow(/wrong at its top/);
  });
});
