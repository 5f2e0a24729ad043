import { describe, expect, it } from 'vitest';
import { nodeSchema } from './node-schema.ts';

const read = (github: object) => nodeSchema.safeParse({ codehosts: { github } });

describe('code hosts in config.yaml', () => {
  it('need nothing for github.com', () => {
    expect(read({}).data?.codehosts).toEqual({ github: { kind: 'github', url: 'https://api.github.com' } });
  });

  it('are reached over https, or on this machine: a token goes over no open line', () => {
    for (const url of ['https://ghe.corp/api/v3', 'http://127.0.0.1:3000/api/v3', 'http://[::1]:3000', 'http://localhost/'])
      expect([url, read({ url }).success]).toEqual([url, true]);
    for (const url of [
      'http://ghe.corp/api/v3',
      'http://127.0.0.1.evil.test/',
      'https://me:secret@ghe.corp',
      'ftp://ghe.corp',
      'ghe',
    ])
      expect([url, read({ url }).success]).toEqual([url, false]);
  });

  it('name their token and never hold it', () => {
    expect(read({ secret: 'secret:work' }).success).toBe(true);
    for (const other of [{ secret: 'ghp_abc' }, { token: 'ghp_abc' }, { match: ['https://ghe.corp'] }, { kind: 'gitlab' }])
      expect(read(other).success).toBe(false);
  });
});
