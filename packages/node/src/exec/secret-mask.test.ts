import { describe, expect, it } from 'vitest';
import { createSecretMask, looksSecret, MASK } from './secret-mask.ts';

describe('masking secrets', () => {
  it('names that hold keys, tokens, passwords and the like are secrets', () => {
    expect(['ANTHROPIC_API_KEY', 'GITHUB_TOKEN', 'db_password', 'AWS_SECRET', 'HTTP_AUTHORIZATION'].map(looksSecret)).toEqual(
      Array(5).fill(true),
    );
    expect(['PATH', 'HOME', 'LANG', 'TERM', 'CI'].map(looksSecret)).toEqual(Array(5).fill(false));
  });

  it('a secret is hidden in its variable and wherever else its value appears', () => {
    const mask = createSecretMask({ API_KEY: 'abcdef123', PLAIN: 'see abcdef123', ODD: 'hidden too' }, ['ODD']);
    expect([mask.value('API_KEY'), mask.value('PLAIN'), mask.value('ODD'), mask.text('run --with abcdef123')]).toEqual([
      MASK,
      `see ${MASK}`,
      MASK,
      `run --with ${MASK}`,
    ]);
  });

  it('the user part of a URL is hidden whatever the variable is called', () => {
    expect(createSecretMask({ HTTP_PROXY: 'http://egress:t0ken@127.0.0.1:7777' }).value('HTTP_PROXY')).toBe(
      `http://${MASK}@127.0.0.1:7777`,
    );
  });
});
