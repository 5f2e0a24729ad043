import { OrreryError } from '@orrery/protocol/errors';
import { describe, expect, it } from 'vitest';
import { nodeSchema } from '../config/node-schema.ts';
import { codehostLines } from './doctor-codehosts.ts';

const linesWith = (read: (name: string) => Promise<string | null>) => {
  const codehosts = { github: {}, work: { url: 'https://ghe.corp/api/v3', secret: 'secret:ours' } };
  return codehostLines({ config: { current: () => nodeSchema.parse({ codehosts }) }, secrets: { read } });
};

describe('what the doctor says of code hosts', () => {
  it('is whether each has a token, and never the token', async () => {
    const lines = await linesWith(async (name) => (name === 'ours' ? 'ghp_x' : null));
    expect(lines).toEqual([
      {
        area: 'code host github',
        state: 'warning',
        message: 'The secret "github" is not set: no pull request is opened there.',
        fix: 'orrery secret set github',
      },
      { area: 'code host work', state: 'ok', message: 'ghe.corp; its token is set.', fix: null },
    ]);
  });

  it('is what is wrong with the store of the secrets', async () => {
    const broken = new OrreryError('config_invalid', 'It is open to others.', { fix: 'chmod 600 FILE' });
    const lines = await linesWith(() => Promise.reject(broken));
    expect(lines.map(({ state, message, fix }) => [state, message, fix])[0]).toEqual([
      'problem',
      'It is open to others.',
      'chmod 600 FILE',
    ]);
  });
});
