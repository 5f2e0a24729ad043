import { describe, expect, it } from 'vitest';
import { parseRawNumstat } from './compare.ts';
import { hideCredentials } from './redact.ts';
import { readUrl } from './source.ts';

describe('raw and numstat records', () => {
  it('are joined in their order: changed, renamed with both names, binary', () => {
    const raw = [
      ':100644 100644 aaaa bbbb M',
      'tab\there',
      ':100644 100644 aaaa aaaa R100',
      'old',
      'new',
      ':000000 100644 0000 bbbb A',
      'bin',
    ];
    const counts = ['3\t1\ttab\there', '0\t0\t', 'old', 'new', '-\t-\tbin'];
    expect(parseRawNumstat(`${[...raw, ...counts].join('\0')}\0`)).toEqual([
      { path: 'tab\there', oldPath: null, status: 'modified', insertions: 3, deletions: 1, before: 'aaaa', after: 'bbbb' },
      { path: 'new', oldPath: 'old', status: 'renamed', insertions: 0, deletions: 0, before: 'aaaa', after: 'aaaa' },
      { path: 'bin', oldPath: null, status: 'added', insertions: null, deletions: null, before: '0000', after: 'bbbb' },
    ]);
  });

  it('of no change are none', () => {
    expect(parseRawNumstat('')).toEqual([]);
  });
});

describe('a source', () => {
  it('is a URL of three transports or a path', () => {
    expect(
      [
        'https://example.org/a.git',
        'ssh://git@example.org/a',
        'git@example.org:team/a.git',
        'file:///srv/a.git',
        '/srv/a',
        './a',
      ].map((given) => readUrl(given)?.protocol ?? null),
    ).toEqual(['https', 'ssh', 'ssh', 'file', null, null]);
  });

  it.each([
    'http://x/y',
    'git://x/y',
    'ext::sh',
    'ftp://x/y',
    'https://token@x/y',
    'https://a:b@x/y',
    'ssh://a:b@x/y',
    'ssh://-x/y',
    'https://x/ y',
  ])('%s is refused', (given) => {
    expect(() => readUrl(given)).toThrow(expect.objectContaining({ code: 'invalid_input' }));
  });
});

describe('credentials', () => {
  it('are taken out of whatever Git says', () => {
    const said =
      "fatal: https://ada:pa%20ss@example.org/x.git ssh://git@host/x 'https://t0ken@x/y?access_token=abc&z=1' Authorization: Basic QWxh\nnext";
    expect(hideCredentials(said)).toBe(
      "fatal: https://example.org/x.git ssh://host/x 'https://x/y?access_token=(hidden)&z=1' Authorization: (hidden)\nnext",
    );
  });
});
