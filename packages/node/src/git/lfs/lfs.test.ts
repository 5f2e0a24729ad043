import { describe, expect, it } from 'vitest';
import { parsePointer } from './pointer.ts';
import { publicOnly } from '../../kernel/public-only.ts';
import { serverNamed, serverOfRemote } from './server.ts';

const oid = 'a'.repeat(64);

describe('a pointer', () => {
  it('is read by its keys, and anything else is a file', () => {
    const text = `version https://git-lfs.github.com/spec/v1\nx-other 1\noid sha256:${oid}\nsize 12\n`;
    expect(parsePointer(text)).toEqual({ oid, size: 12 });
    for (const other of [
      text.replace('spec/v1', 'spec/v2'),
      text.replace('sha256', 'sha1'),
      text.replace(oid, oid.slice(1)),
      text.replace('size 12', 'size -1'),
      text.replace('size 12', 'size 999999999999999999999'),
      ` ${text}`,
      text + 'x'.repeat(1024),
    ])
      expect(parsePointer(other)).toBeNull();
  });
});

describe('the server of a remote', () => {
  it('is beside the repository, by https, on the same host', () => {
    const found = (remote: string): string | undefined => serverOfRemote(remote)?.href;
    expect([
      found('https://git.test:8443/a/b.git'),
      found('https://git.test/a/b/'),
      found('git@git.test:a/b.git'),
      found('ssh://git@git.test:2222/a/b'),
    ]).toEqual([
      'https://git.test:8443/a/b.git/info/lfs',
      'https://git.test/a/b.git/info/lfs',
      'https://git.test/a/b.git/info/lfs',
      'https://git.test/a/b.git/info/lfs',
    ]);
    expect(['/srv/a.git', 'file:///srv/a.git', 'http://git.test/a', ''].map(found)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('is no address with credentials, and none but https', () => {
    expect(serverNamed('https://git.test/lfs/')?.href).toBe('https://git.test/lfs');
    for (const other of ['http://git.test/lfs', 'https://me:secret@git.test/lfs', 'file:///lfs', 'lfs'])
      expect(serverNamed(other)).toBeNull();
  });
});

describe('a name that another server sends on to', () => {
  it('is refused where it leads inside, also with one of several addresses', () => {
    const answers: unknown[] = [];
    const ask = (...addresses: string[]): void =>
      publicOnly((_host, _options, answer) =>
        answer(
          null,
          addresses.map((address) => ({ address, family: 4 })),
        ),
      )('cdn.test', { all: true }, (error, address) => answers.push(error?.message ?? address));
    ask('93.184.216.34');
    ask('93.184.216.34', '169.254.169.254');
    ask('127.0.0.1');
    expect(answers).toEqual([
      [{ address: '93.184.216.34', family: 4 }],
      'cdn.test is an address of a private network',
      'cdn.test is an address of a private network',
    ]);
  });
});
