import { describe, expect, it } from 'vitest';
import { toPull } from './translate.ts';
import { pullSchema } from './wire.ts';

const sha = 'a'.repeat(40);
const said = (more: object = {}) => {
  const pull = { number: 7, html_url: 'https://git.test/a/b/pull/7', state: 'open', title: 'A title', head: { ref: 'try', sha } };
  return pullSchema.safeParse({ ...pull, base: { ref: 'main', sha }, ...more });
};
const read = (more: object) => toPull(pullSchema.parse(said(more).data));

describe('what GitHub says of a pull request', () => {
  it.each([
    ['Fix\nSigned-off-by: x <x@x.test>\r\n\r\nmore', 'Fix Signed-off-by: x <x@x.test> more'],
    ['\u001b]0;x\u0007 a\u0000b\u009bc\u2028d\u202ee\u2066f\u200bg\u00adh\ufeff\u{e0041}i', ']0;x a b c d e f g h i'],
    ['Grüße 😀', 'Grüße 😀'],
    ['\u202e\n', '#7'],
    ['', '#7'],
  ])('has a title that is one line and seen whole: %j', (title, seen) => {
    expect(read({ title }).title).toBe(seen);
  });

  it('has a title and branches of a bounded length', () => {
    expect(read({ title: '😀'.repeat(900) }).title.length).toBeLessThanOrEqual(250);
    const ref = `m\n\u202e${'x'.repeat(900)}`;
    const { base, branch } = read({ base: { ref, sha }, head: { ref, sha } });
    expect([base, branch].map((name) => [name.length, name.slice(0, 3)])).toEqual([
      [250, 'm x'],
      [250, 'm x'],
    ]);
  });

  it.each([
    ['https://git.test/a b', 'https://git.test/a%20b'],
    ['HTTPS://Git.Test/x\ny\u001b\u202e"<', 'https://git.test/xy%1B%E2%80%AE%22%3C'],
    ['https:git.test', 'https://git.test/'],
    ['http://127.0.0.1:3000/a', 'http://127.0.0.1:3000/a'],
    ['http://localhost/a', 'http://localhost/a'],
  ])('has an address that is written as addresses are: %j', (address, seen) => {
    expect(read({ html_url: address }).url).toBe(seen);
  });

  it.each([
    'http://git.test/a',
    'http://127.0.0.1.git.test/a',
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'https://me:secret@git.test/a',
    '/a/b/pull/7',
    'https://"onmouseover=alert(1)/',
    `https://git.test/${'\u202e'.repeat(900)}`,
    '',
  ])('is not taken with another address: %j', (address) => {
    expect(said({ html_url: address }).success).toBe(false);
  });
});
