// A Claude subscription: `claude setup-token` prints a token that is good for a year, and the API takes it as bearer with
// one beta name more.

import { OrreryError } from '@orrery/protocol/errors';
import type { HarnessLogin } from '../login.ts';

const TOKEN = /^sk-ant-oat\d{2}-[A-Za-z0-9_-]{20,1000}$/;
const BETA = 'oauth-2025-04-20';

/** The names in a header of lists. */
const names = (header: unknown): readonly string[] =>
  typeof header === 'string'
    ? header
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== '')
    : [];

export const claudeLogin: HarnessLogin = {
  account: 'a Claude subscription',
  provider: 'anthropic',
  baseUrl: 'https://api.anthropic.com',
  issuer: null,
  prints: ['setup-token'],
  accept: (token) => {
    if (TOKEN.test(token)) return { accessToken: token, refreshToken: null, expiresAtMs: null, accountId: null, who: null };
    throw new OrreryError('invalid_input', 'That is no token of a Claude subscription.', {
      rule: 'It begins with sk-ant-oat and is printed by "claude setup-token". A key (sk-ant-api…) is a secret: orrery secret set anthropic',
      fix: 'orrery harness login claude',
    });
  },
  path: (path) => path,
  headers: ({ accessToken }, of) => ({
    authorization: `Bearer ${accessToken}`,
    'anthropic-beta': [...new Set([...names(of['anthropic-beta']), BETA])].join(','),
  }),
};
