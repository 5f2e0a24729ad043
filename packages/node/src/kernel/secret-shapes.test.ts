import { describe, expect, it } from 'vitest';
import { hideSecretShapes } from './secret-shapes.ts';

describe('what has the shape of a secret is hidden', () => {
  const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
  it.each([
    ['a provider key', `it is sk-${letters} here`, 'it is ••• here'],
    ['a token of a forge', `ghp_${letters}`, '•••'],
    ['an address with a password', 'https://me:hunter22@example.org/x', 'https://•••@example.org/x'],
    ['a variable', 'DB_PASSWORD=hunter22 and more', 'DB_PASSWORD=••• and more'],
    ['a header', `authorization: Bearer ${letters}`, 'authorization: Bearer •••'],
    ['a key in a file', `-----BEGIN RSA PRIVATE KEY-----\n${letters}\n-----END RSA PRIVATE KEY-----\nrest`, '•••\nrest'],
    ['nothing of plain words', 'the token of the parser is an identifier', 'the token of the parser is an identifier'],
  ])('%s', (_, text, hidden) => {
    expect(hideSecretShapes(text)).toBe(hidden);
  });
});
