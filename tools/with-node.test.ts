import { describe, expect, it } from 'vitest';
// @ts-expect-error the bootstrap is plain JavaScript without declarations, since it runs before there is anything else
import { runsTypeScript } from './with-node.mjs';

describe('the bootstrap', () => {
  it.each([
    ['v18.20.4', false],
    ['v20.20.2', false],
    ['v22.17.9', false],
    ['v22.18.0', true],
    ['v23.5.0', false],
    ['v23.6.0', true],
    ['v24.0.0', true],
    ['v100.1.0', true],
    ['garbage', false],
  ])('takes Node %s: %s', (version, expected) => {
    expect(runsTypeScript(version)).toBe(expected);
  });
});
