import { OrreryError } from '@orrery/protocol/errors';
import { describe, expect, it } from 'vitest';
import type { OptionKind } from './commands/command.ts';
import { readValue } from './option-value.ts';

const read = (kind: OptionKind, text: string): unknown => {
  try {
    return readValue({ name: 'x', kind, summary: '' }, text);
  } catch (thrown) {
    return thrown instanceof OrreryError ? `${thrown.code}: ${thrown.message}` : thrown;
  }
};

const REFUSED = 'invalid_input: The value of --x cannot be used.';

describe('values of options', () => {
  it('are read by their kind, with units', () => {
    expect({
      durations: ['500ms', '30s', '1.5h', '2m', '1d'].map((text) => read('duration', text)),
      sizes: ['1024', '512M', '2G', '1.5KiB'].map((text) => read('bytes', text)),
      money: ['2.50', '3'].map((text) => read('usd', text)),
    }).toEqual({
      durations: [500, 30_000, 5_400_000, 120_000, 86_400_000],
      sizes: [1024, 536_870_912, 2_147_483_648, 1536],
      money: [2.5, 3],
    });
  });

  it('are refused without being repeated', () => {
    expect([
      read('duration', '30'),
      read('duration', '-1s'),
      read('bytes', '5 parsecs'),
      read('usd', '1e9'),
      read('number', '-3'),
      read('number', '1.5'),
    ]).toEqual(Array.from({ length: 6 }, () => REFUSED));
  });
});
