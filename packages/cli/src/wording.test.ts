import { describe, expect, it } from 'vitest';
import { agoText, bytesText, costText, countText, durationText, shellWord, tokensText } from './wording.ts';

describe('words for people', () => {
  it('round durations to what matters', () => {
    expect([0, 340, 2149, 59_949, 59_950, 65_000, 3_600_000, 7_380_000].map(durationText)).toEqual([
      '0 ms',
      '340 ms',
      '2.1 s',
      '59.9 s',
      '1 min',
      '1 min 5 s',
      '1 h',
      '2 h 3 min',
    ]);
  });

  it('say when, seen from now', () => {
    const now = Date.parse('2026-03-01T12:00:00Z');
    const at = (ms: number): string => new Date(now - ms).toISOString();
    expect(
      [at(0), at(20_000), at(300_000), at(7_200_000), at(86_400_000), at(86_400_000 * 3), at(-300_000), null].map((one) =>
        agoText(one, now),
      ),
    ).toEqual(['just now', '20 s ago', '5 min ago', '2 h ago', '1 day ago', '3 days ago', 'in 5 min', 'never']);
  });

  it('never call an unknown cost nothing', () => {
    expect([null, 0, 0.0042, 1.5].map(costText)).toEqual(['cost unknown', '$0', '$0.0042', '$1.50']);
  });

  it('count, and shorten large numbers', () => {
    expect([
      countText(1, 'file'),
      countText(3, 'file'),
      tokensText(950),
      tokensText(12_345),
      tokensText(999_960),
      bytesText(512),
      bytesText(1536),
      bytesText(20 * 1024 ** 2),
    ]).toEqual(['1 file', '3 files', '950', '12.3k', '1.0M', '512 B', '1.5 KiB', '20.0 MiB']);
  });

  it('quote for the shell what needs it', () => {
    expect(['plain-1.txt', "it's", 'two words', '$HOME', ''].map(shellWord)).toEqual([
      'plain-1.txt',
      `'it'\\''s'`,
      "'two words'",
      "'$HOME'",
      "''",
    ]);
  });
});
