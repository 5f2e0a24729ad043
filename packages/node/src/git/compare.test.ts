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
    const joined = parseRawNumstat(`${[...raw, ...counts].join('\0')}\0`);
    const told = joined.map(({ path, oldPath, status, insertions, deletions }) => [path, oldPath, status, insertions, deletions]);
    expect(told).toEqual([
      ['tab\there', null, 'modified', 3, 1],
      ['new', 'old', 'renamed', 0, 0],
      ['bin', null, 'added', null, null],
    ]);
    expect(joined.map(({ modeBefore, before, after }) => [modeBefore, before, after])).toEqual([
      ['100644', 'aaaa', 'bbbb'],
      ['100644', 'aaaa', 'aaaa'],
      ['000000', '0000', 'bbbb'],
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
