import { describe, expect, it } from 'vitest';
import { parseRemote } from './remote.ts';

describe('the address of a remote', () => {
  it('is read in each form that Git takes', () => {
    const found = { host: 'github.com', repository: 'acme/site' };
    for (const address of [
      'https://github.com/acme/site.git',
      'https://github.com/acme/site',
      'https://github.com/acme/site/',
      'https://GitHub.com/acme/site.git',
      'https://me@github.com/acme/site.git',
      'git@github.com:acme/site.git',
      'git@github.com:/acme/site.git',
      'github.com:acme/site',
      'ssh://git@github.com/acme/site.git',
      'ssh://git@github.com:2222/acme/site.git',
    ])
      expect([address, parseRemote(address)]).toEqual([address, found]);
    expect(parseRemote('https://ghe.corp:8443/a/b.c.git')).toEqual({ host: 'ghe.corp:8443', repository: 'a/b.c' });
    expect(parseRemote('http://127.0.0.1:3000/a/b')).toEqual({ host: '127.0.0.1:3000', repository: 'a/b' });
  });

  it('is none when it is a path, another transport, another depth, or made to be misread', () => {
    for (const address of [
      '',
      '/srv/site.git',
      './site.git',
      'file:///srv/acme/site.git',
      'ext::sh -c true',
      'ftp://github.com/acme/site',
      'https://github.com/site',
      'https://github.com/acme/group/site',
      'https://github.com/../site',
      'https://github.com/acme/..',
      'https://github.com/acme/.git',
      'https://github.com/acme/site.git.git',
      'https://github.com/acme/site?x=1',
      'https://github.com/acme/site#x',
      'https://github.com/ac%2fme/site',
      'https://github.com/acme/si te',
      'https://github.com/acme/site\n',
      'git@github.com:acme/si\u202ete',
      'git@-oProxyCommand=x:acme/site',
      'git@github.com:acme\\site/x',
      `https://github.com/${'a'.repeat(101)}/site`,
      `https://github.com/acme/${'a'.repeat(3_000)}`,
    ])
      expect([address, parseRemote(address)]).toEqual([address, null]);
  });
});
